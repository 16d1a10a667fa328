// Drives stet with the official agent SDK, against the model emulator. Run by scripts/sdk_check; ends with exit code 0
// when every check holds.
import assert from 'node:assert/strict';
import fs from 'node:fs';
import { query } from '@anthropic-ai/claude-agent-sdk';
import { Setting, Speaker, soon } from './setting.mjs';

const setting = new Setting();
const call = (name, args) => ({ blocks: [{ call: { name, args } }] });
const text = (words) => ({ blocks: [{ text: words }], delta: 4 });
const after = (reply) => ({ when: { hasToolResult: true }, ...reply });

/** All messages of a query; `onMessage` hears each. */
async function collect(messages, onMessage = () => {}) {
  const all = [];
  const run = (async () => {
    for await (const message of messages) {
      all.push(message);
      await onMessage(message);
    }
  })();
  await soon(run, 'the end of the query');
  return all;
}

const results = (all) => all.filter((message) => message.type === 'result');
const blocks = (all, type) => all.flatMap((message) =>
  message.type === 'assistant' || message.type === 'user' ? message.message.content : [])
  .filter((block) => block.type === type);

async function permissionsAreAsked() {
  await setting.play([
    call('Write', { file_path: 'a.txt', content: 'draft' }),
    after(call('Bash', { command: 'touch denied.txt' })),
    after(text('All of it is done.')),
  ]);
  const asked = [];
  const speaker = new Speaker();
  speaker.say('write it');
  const all = await collect(query({
    prompt: speaker,
    options: setting.options({
      includePartialMessages: true,
      canUseTool: async (name, input, { toolUseID, suggestions }) => {
        asked.push({ name, input, toolUseID, suggestions });
        if (name === 'Write') return { behavior: 'allow', updatedInput: { ...input, content: 'edited' } };
        return { behavior: 'deny', message: 'no commands today' };
      },
    }),
  }), (message) => { if (message.type === 'result') speaker.end(); });

  assert.equal(all[0].type, 'system');
  assert.equal(all[0].subtype, 'init');
  assert.ok(all[0].tools.includes('Write'));
  assert.equal(all[0].permissionMode, 'default');
  assert.equal(fs.realpathSync(all[0].cwd), fs.realpathSync(setting.project));

  assert.deepEqual(asked.map(({ name }) => name), ['Write', 'Bash']);
  assert.deepEqual(asked[0].input, { file_path: 'a.txt', content: 'draft' });
  assert.deepEqual(asked[0].suggestions, [{ type: 'addRules', rules: [{ toolName: 'Write' }],
                                            behavior: 'allow', destination: 'session' }]);
  const uses = blocks(all, 'tool_use');
  assert.deepEqual(uses.map(({ id }) => id), asked.map(({ toolUseID }) => toolUseID));
  assert.equal(fs.readFileSync(setting.file('a.txt'), 'utf8'), 'edited');
  assert.ok(!fs.existsSync(setting.file('denied.txt')));

  const said = blocks(all, 'tool_result');
  assert.deepEqual(said.map(({ tool_use_id }) => tool_use_id), uses.map(({ id }) => id));
  assert.deepEqual(said.map(({ is_error }) => is_error), [false, true]);
  assert.match(said[1].content, /no commands today/);

  const [result, ...others] = results(all);
  assert.equal(others.length, 0);
  assert.equal(result.subtype, 'success');
  assert.equal(result.is_error, false);
  assert.equal(result.result, 'All of it is done.');
  assert.equal(result.num_turns, 3);
  assert.deepEqual(result.permission_denials.map(({ tool_name }) => tool_name), ['Bash']);

  const events = all.filter((message) => message.type === 'stream_event').map(({ event }) => event);
  assert.equal(events.filter(({ type }) => type === 'message_start').length, 3);
  assert.equal(events.filter(({ type }) => type === 'message_stop').length, 3);
  const pieces = events.filter(({ delta }) => delta?.type === 'text_delta').map(({ delta }) => delta.text);
  assert.ok(pieces.length > 3);
  assert.equal(pieces.join(''), 'All of it is done.');
  return result.session_id;
}

async function aSessionIsResumed(sessionId) {
  await setting.play([{ when: { contains: 'write it', lastUser: 'and now' }, ...text('I remember.') }]);
  const all = await collect(query({ prompt: 'and now?', options: setting.options({ resume: sessionId }) }));
  assert.equal(all[0].session_id, sessionId);
  assert.equal(results(all)[0].result, 'I remember.');
}

async function anInterruptEndsTheTurnAndTheNextOneRuns() {
  await setting.play([
    { blocks: [{ text: 'It never ends.' }], delta: 1, fault: { kind: 'stall', afterEvents: 5 } },
    { when: { lastUser: 'second' }, ...text('Here I am.') },
  ]);
  const speaker = new Speaker();
  speaker.say('first');
  let interrupted = false;
  const messages = query({ prompt: speaker, options: setting.options({ includePartialMessages: true }) });
  const all = await collect(messages, async (message) => {
    if (message.type === 'stream_event' && message.event.delta?.text && !interrupted) {
      interrupted = true;
      await messages.interrupt();
    }
    if (message.type !== 'result') return;
    if (message.is_error) speaker.say('second');
    else speaker.end();
  });
  const [first, second, ...others] = results(all);
  assert.equal(others.length, 0);
  assert.equal(first.subtype, 'error_during_execution');
  assert.deepEqual(first.errors, ['cancelled']);
  assert.equal(second.result, 'Here I am.');
  assert.equal(first.session_id, second.session_id);
}

async function whatIsAskedOfTheProgramIsAnswered() {
  await setting.play([
    call('Write', { file_path: 'b.txt', content: 'by mode' }),
    after(text('Written.')),
  ]);
  const speaker = new Speaker();
  const messages = query({ prompt: speaker, options: setting.options({}) });
  const info = await soon(messages.initializationResult(), 'initialize');
  assert.deepEqual(info.commands, []);
  assert.deepEqual(await soon(messages.mcpServerStatus(), 'mcp_status'), []);
  await soon(messages.setPermissionMode('acceptEdits'), 'set_permission_mode');
  await assert.rejects(soon(messages.getContextUsage(), 'get_context_usage'), /get_context_usage/);
  speaker.say('write b');
  const all = await collect(messages, async (message) => {
    if (message.type !== 'result') return;
    await assert.rejects(soon(messages.setModel('nobody/knows'), 'set_model'));
    await soon(messages.setModel('offline'), 'set_model');
    speaker.end();
  });
  assert.equal(results(all)[0].result, 'Written.');
  assert.equal(all[0].permissionMode, 'acceptEdits');
  assert.equal(fs.readFileSync(setting.file('b.txt'), 'utf8'), 'by mode');
}

async function anAnswerFitsItsSchema() {
  await setting.play([text('Forty-two.'), call('StructuredOutput', { answer: 42 })]);
  const schema = { type: 'object', properties: { answer: { type: 'integer' } }, required: ['answer'] };
  const all = await collect(query({
    prompt: 'what is it?',
    options: setting.options({ outputFormat: { type: 'json_schema', schema } }),
  }));
  assert.deepEqual(results(all)[0].structured_output, { answer: 42 });
}

async function whatThereIsNotIsNamed() {
  const hooks = { PreToolUse: [{ hooks: [async () => ({})] }] };
  await assert.rejects(collect(query({ prompt: 'hello', options: setting.options({ hooks }) })), /hooks/);
  const gone = query({ prompt: 'hello', options: setting.options({ resume: 'ses_none' }) });
  await assert.rejects(collect(gone), /ses_none|exited/);
}

try {
  await setting.start();
  const sessionId = await permissionsAreAsked();
  await aSessionIsResumed(sessionId);
  await anInterruptEndsTheTurnAndTheNextOneRuns();
  await whatIsAskedOfTheProgramIsAnswered();
  await anAnswerFitsItsSchema();
  await whatThereIsNotIsNamed();
  console.log('the SDK drives stet');
} catch (error) {
  console.error(error);
  console.error(`stet said: ${setting.stderr}`);
  process.exitCode = 1;
} finally {
  setting.end();
}
