// Checks recorded lines against the published JSON Schema of the protocol, version 1.
import fs from 'node:fs';
import { createRequire } from 'node:module';
import Ajv2020 from 'ajv/dist/2020.js';

const schema = createRequire(import.meta.url)('@agentclientprotocol/sdk/schema/v1/schema.json');

// Formats such as uint32 say in words what minimum says already.
const ajv = new Ajv2020({ strict: false, validateFormats: false, allErrors: false });
ajv.addSchema(schema, 'acp');
const whole = ajv.getSchema('acp');

/** By method: what is sent with it, and what it is answered with. */
const params = new Map();
const results = new Map();
for (const [name, shape] of Object.entries(schema.$defs)) {
  if (!shape['x-method']) continue;
  const check = ajv.compile({ $ref: `acp#/$defs/${name}` });
  const side = shape['x-side'];
  if (name.endsWith('Response')) results.set(shape['x-method'], check);
  else params.set(shape['x-method'], { check, side });
}
const error = ajv.compile({ $ref: 'acp#/$defs/Error' });

function must(check, value, what) {
  if (!check(value)) throw new Error(`${what}: ${ajv.errorsText(check.errors)}`);
}

/** Who may send a method that the named side handles. */
const mayBeSent = (side, from) => side === 'protocol' || side !== from;

function checkMessage(message, from, asked) {
  if (message.jsonrpc !== '2.0') throw new Error('jsonrpc is not 2.0');
  if (message.method === undefined) {
    const method = asked.get(`${from}:${JSON.stringify(message.id)}`);
    if (message.error !== undefined) return must(error, message.error, 'error');
    if (method === undefined) throw new Error('nothing was asked under this id');
    return must(results.get(method), message.result, `the result of ${method}`);
  }
  const shape = params.get(message.method);
  if (shape === undefined) throw new Error(`the schema has no method ${message.method}`);
  if (!mayBeSent(shape.side, from)) throw new Error(`${message.method} is not for the ${from} to send`);
  must(shape.check, message.params, `the params of ${message.method}`);
  const other = from === 'agent' ? 'client' : 'agent';
  if (message.id !== undefined) asked.set(`${other}:${JSON.stringify(message.id)}`, message.method);
}

/** Checks every line of a record; gives the messages. A side that was asked and has ended answers nothing any more. */
export function checkRecord(file) {
  const asked = new Map();
  const entries = fs.readFileSync(file, 'utf8').split('\n').filter(Boolean).map((entry) => JSON.parse(entry));
  return entries.flatMap(({ from, line, ended }) => {
    if (ended !== undefined) asked.clear();
    if (from === undefined) return [];
    try {
      const message = JSON.parse(line);
      must(whole, message, 'a message');
      checkMessage(message, from, asked);
      return { from, message };
    } catch (problem) {
      throw new Error(`a line of the ${from} does not fit the schema: ${problem.message}\n${line}`);
    }
  });
}

/** Lines that do not fit must be found: else the check checks nothing. */
export function checkItself(file) {
  const update = (more) => JSON.stringify({ from: 'agent',
    line: JSON.stringify({ jsonrpc: '2.0', method: 'session/update', params: { sessionId: 's', update: more } }) });
  const wrong = [
    update({ sessionUpdate: 'tool_call', toolCallId: 't', title: 'x', status: 'bogus' }),
    update({ sessionUpdate: 'no_such_update' }),
    JSON.stringify({ from: 'agent', line: '{"jsonrpc":"2.0","id":1,"result":{}}' }),
    JSON.stringify({ from: 'client', line: '{"jsonrpc":"2.0","id":1,"method":"session/new","params":{"cwd":"/"}}' }),
    JSON.stringify({ from: 'agent', line: 'no JSON' }),
  ];
  for (const entry of wrong) {
    fs.writeFileSync(file, `${entry}\n`);
    let found = false;
    try { checkRecord(file); } catch { found = true; }
    if (!found) throw new Error(`the schema check lets this pass: ${entry}`);
  }
}
