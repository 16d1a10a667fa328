// Keeps commands away from a folder, hides what looks like a token, and reminds of a rule.
import { createInterface } from 'node:readline';

const send = (message) => process.stdout.write(JSON.stringify({ jsonrpc: '2.0', ...message }) + '\n');

function beforeToolCall({ tool_name: tool, tool_input: input }) {
  if (tool !== 'Bash') return null;
  if (input.command.includes('/precious'))
    return { decision: 'block', reason: 'The folder /precious is left alone.' };
  if (input.command.startsWith('npm '))
    return { hookSpecificOutput: { updatedInput: { ...input, command: `${input.command} --offline` } } };
  return null;
}

function afterToolCall({ tool_response: response }) {
  if (!response || !/tok_[a-z0-9]+/.test(response.content)) return null;
  return { hookSpecificOutput: { updatedToolOutput: response.content.replace(/tok_[a-z0-9]+/g, 'tok_***') } };
}

let reminded = false;
function transformContext({ events }) {
  if (reminded || !events.some((event) => event.text.includes('release'))) return null;
  reminded = true;
  return { operations: [{ op: 'append', text: 'A release needs a line in CHANGELOG.md.' }] };
}

const methods = { beforeToolCall, afterToolCall, transformContext };

createInterface({ input: process.stdin }).on('line', (line) => {
  const { id, method, params } = JSON.parse(line);
  if (id === undefined || method === undefined) return;
  send({ id, result: methods[method] ? methods[method](params) : null });
});
