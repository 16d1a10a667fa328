// Writes the JSON Schemas of defs.ts: generate.mjs FOLDER. Run by scripts/wire_schemas.
import fs from 'node:fs';
import path from 'node:path';
import { createFormatter, createParser, createProgram, SchemaGenerator } from 'ts-json-schema-generator';

const schemas = {
  'anthropic-messages': 'AnthropicMessages',
  'openai-completions': 'OpenAiCompletions',
  'openai-responses': 'OpenAiResponses',
  'google-generative-ai': 'GoogleGenerativeAi',
};

const folder = process.argv[2];
const config = { path: 'defs.ts', tsconfig: 'tsconfig.json', skipTypeCheck: true, jsDoc: 'none', additionalProperties: false };
const program = createProgram(config);
const generator = new SchemaGenerator(program, createParser(program, config), createFormatter(config), config);

// The library computes this member itself; servers do not send it.
function dropComputed(schema) {
  const response = schema.definitions['Response'];
  if (response?.required) response.required = response.required.filter((name) => name !== 'output_text');
}

fs.mkdirSync(folder, { recursive: true });
for (const [dialect, type] of Object.entries(schemas)) {
  for (const [name, root] of [[dialect, type], [`${dialect}-event`, `${type}Event`]]) {
    const schema = generator.createSchema(root);
    dropComputed(schema);
    fs.writeFileSync(path.join(folder, `${name}.json`), JSON.stringify(schema));
  }
}
