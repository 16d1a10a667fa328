// Drives stet with the official client of the Agent Client Protocol and with acpx, against the model emulator, and
// checks every line both ways against the protocol's schema. Run by scripts/acp_check; ends with exit code 0 when every
// check holds.
import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import fs from 'node:fs';
import path from 'node:path';
import { Readable, Writable } from 'node:stream';
import { client, methods, ndJsonStream } from '@agentclientprotocol/sdk';
import { Editor } from './editor.mjs';
import { checkItself, checkRecord } from './schema.mjs';
import { Setting, soon } from './setting.mjs';

const setting = new Setting();
const env = { PATH: process.env.PATH, HOME: setting.home, STET_HOME: setting.home, TZ: 'UTC', LC_ALL: 'C.UTF-8' };
const call = (name, args) => ({ blocks: [{ call: { name, args } }] });
const text = (words) => ({ blocks: [{ text: words }], delta: 4 });
const after = (reply) => ({ when: { hasToolResult: true }, ...reply });
const stall = { when: { lastUser: 'stall' }, blocks: [{ text: 'It never ends.' }], delta: 1,
                fault: { kind: 'stall', afterEvents: 5 } };
let records = 0;
const newRecord = () => path.join(setting.folder, `record${++records}.jsonl`);
const agentCommand = (record) => [process.execPath, path.resolve('tee.mjs'), record, process.env.STET_BIN, 'acp'];

/** Runs `op` as a client of a new agent; `permit` answers what is asked, `editor` has files and terminals. Gives the
 *  recorded messages. */
async function withAgent({ permit, ask, editor }, op) {
  const record = newRecord();
  const [program, ...args] = agentCommand(record);
  const agent = spawn(program, args, { env, stdio: ['pipe', 'pipe', 'pipe'] });
  agent.stderr.on('data', (data) => { setting.stderr += data; });
  const ended = new Promise((resolve) => agent.once('close', resolve));
  const updates = [];
  const waiting = [];
  const app = client({ name: 'check' })
    .onRequest(methods.client.session.requestPermission, ({ params }) => permit(params))
    .onRequest(methods.client.elicitation.create, ({ params }) => ask(params))
    .onNotification(methods.client.session.update, ({ params }) => {
      updates.push(params.update);
      for (const wait of waiting) wait(params.update);
    });
  editor?.join(app);
  /** The next update of that kind. */
  const next = (kind) => soon(new Promise((resolve) => waiting.push((update) => {
    if (update.sessionUpdate === kind) resolve(update);
  })), kind);
  const stream = ndJsonStream(Writable.toWeb(agent.stdin), Readable.toWeb(agent.stdout));
  await soon(app.connectWith(stream, async (ctx) => {
    const hello = await ctx.request(methods.agent.initialize, { protocolVersion: 1,
      clientInfo: { name: 'check', version: '1' },
      clientCapabilities: { elicitation: { form: {} }, session: { notices: {}, compaction: {} },
                            ...editor?.capabilities() } });
    assert.equal(hello.protocolVersion, 1);
    await op(ctx, { updates, next, hello, agent });
  }), 'the client');
  agent.stdin.end();
  assert.equal(await soon(ended, 'the end of the agent'), 0);
  return checkRecord(record);
}

const prompt = (ctx, sessionId, words) =>
  ctx.request(methods.agent.session.prompt, { sessionId, prompt: [{ type: 'text', text: words }] });
const kinds = (updates) => updates.map(({ sessionUpdate }) => sessionUpdate);
const selected = (optionId) => ({ outcome: { outcome: 'selected', optionId } });

async function aTaskWithPermissionAndEdit() {
  fs.writeFileSync(setting.file('a.txt'), 'one\ntwo\n');
  await setting.play([
    call('Read', { file_path: 'a.txt' }),
    after(call('Edit', { file_path: 'a.txt', old_string: 'two', new_string: '2' })),
    after(call('Bash', { command: 'touch denied.txt' })),
    after(call('AskUser', { question: 'Which?', options: [{ label: 'A' }, { label: 'B', description: 'the other' }] })),
    after(call('TodoWrite', { todos: [{ content: 'rest', status: 'completed' }] })),
    after({ blocks: [{ thinking: 'Done, I think.' }, { text: 'All of it is done.' }], delta: 4 }),
  ]);
  const asked = [];
  const permit = (params) => {
    asked.push(params);
    return selected(params.toolCall.kind === 'edit' ? 'allow_once' : 'reject_once');
  };
  const ask = (params) => {
    assert.equal(params.message, 'Which?');
    return { action: 'accept', content: { choice: 'B' } };
  };
  let session;
  await withAgent({ permit, ask }, async (ctx, { updates, hello }) => {
    assert.equal(hello.agentCapabilities.loadSession, true);
    const made = await ctx.request(methods.agent.session.new, { cwd: setting.project, mcpServers: [] });
    session = made.sessionId;
    assert.equal(made.modes.currentModeId, 'default');
    assert.deepEqual(made.configOptions.map(({ id }) => id).slice(0, 2), ['mode', 'model']);
    const { stopReason } = await prompt(ctx, session, 'edit it');
    assert.equal(stopReason, 'end_turn');
    assert.deepEqual(asked.map(({ toolCall }) => toolCall.kind), ['edit', 'execute']);
    const calls = updates.filter(({ sessionUpdate }) => sessionUpdate === 'tool_call');
    assert.deepEqual(calls.map(({ name }) => name), ['Read', 'Edit', 'Bash', 'AskUser', 'TodoWrite']);
    const ends = updates.filter(({ status }) => status === 'completed' || status === 'failed');
    assert.deepEqual(ends.map(({ toolCallId }) => toolCallId), calls.map(({ toolCallId }) => toolCallId));
    assert.deepEqual(ends.map(({ status }) => status),
                     ['completed', 'completed', 'failed', 'completed', 'completed']);
    const [diff] = ends[1].content;
    assert.deepEqual(diff, { type: 'diff', path: fs.realpathSync(setting.file('a.txt')), oldText: 'two', newText: '2' });
    for (const kind of ['plan', 'usage_update', 'available_commands_update', 'agent_thought_chunk'])
      assert.ok(kinds(updates).includes(kind), kind);
    const said = updates.filter(({ sessionUpdate }) => sessionUpdate === 'agent_message_chunk');
    assert.equal(said.map(({ content }) => content.text).join(''), 'All of it is done.');
    assert.equal(new Set(said.map(({ messageId }) => messageId)).size, 1);
    await ctx.request(methods.agent.session.setMode, { sessionId: session, modeId: 'acceptEdits' });
    const chosen = await ctx.request(methods.agent.session.setConfigOption,
                                     { sessionId: session, configId: 'mode', value: 'default' });
    assert.equal(chosen.configOptions[0].currentValue, 'default');
  });
  assert.equal(fs.readFileSync(setting.file('a.txt'), 'utf8'), 'one\n2\n');
  assert.ok(!fs.existsSync(setting.file('denied.txt')));
  return session;
}

async function cancels() {
  await setting.play([stall, { when: { lastUser: 'ask' }, ...call('Write', { file_path: 'no.txt', content: 'x' }) },
                      { times: 0, ...text('Here I am.') }]);
  let release;
  const permit = async () => {
    await new Promise((resolve) => { release = resolve; });
    return { outcome: { outcome: 'cancelled' } };
  };
  await withAgent({ permit }, async (ctx, { next }) => {
    const { sessionId } = await ctx.request(methods.agent.session.new, { cwd: setting.project, mcpServers: [] });
    const streaming = next('agent_message_chunk');
    const first = prompt(ctx, sessionId, 'stall');
    await streaming;
    await ctx.notify(methods.agent.session.cancel, { sessionId });
    assert.equal((await first).stopReason, 'cancelled');
    const calling = next('tool_call');
    const second = prompt(ctx, sessionId, 'ask');
    await calling;
    while (!release) await new Promise((resolve) => { setTimeout(resolve, 5); });
    await ctx.notify(methods.agent.session.cancel, { sessionId });
    release();
    assert.equal((await second).stopReason, 'cancelled');
    assert.equal((await prompt(ctx, sessionId, 'third')).stopReason, 'end_turn');
  });
  assert.ok(!fs.existsSync(setting.file('no.txt')));
}

const allow = () => selected('allow_once');
const open = async (ctx) =>
  (await ctx.request(methods.agent.session.new, { cwd: setting.project, mcpServers: [] })).sessionId;
const ends = (updates) => updates.filter(({ status }) => status === 'completed' || status === 'failed');

/** What is open in the editor counts, saved or not, and the editor writes. */
async function anEditorsTextsAreReadAndWritten() {
  const file = fs.realpathSync(setting.project) + '/open.txt';
  fs.writeFileSync(file, 'saved\n');
  fs.rmSync(setting.file('fresh.txt'), { force: true });
  const edit = (from, to) => after(call('Edit', { file_path: 'open.txt', old_string: from, new_string: to }));
  const editor = new Editor();
  editor.texts.set(file, 'typed\n');
  await setting.play([call('Read', { file_path: 'open.txt' }), edit('typed', 'edited'),
                      after(call('Write', { file_path: 'fresh.txt', content: 'new' })), after(text('Done.'))]);
  const record = await withAgent({ permit: allow, editor }, async (ctx, { updates }) => {
    const sessionId = await open(ctx);
    assert.equal((await prompt(ctx, sessionId, 'edit it')).stopReason, 'end_turn');
    assert.deepEqual(ends(updates).map(({ status }) => status), ['completed', 'completed', 'completed']);
    assert.match(JSON.stringify(ends(updates)[0].content), /typed/);
    assert.equal(editor.texts.get(file), 'edited\n');
    assert.equal(fs.readFileSync(file, 'utf8'), 'edited\n');
    assert.equal(fs.readFileSync(setting.file('fresh.txt'), 'utf8'), 'new');

    // One that refuses: nothing is written behind its back. A text that cannot be had is the disk's.
    editor.refuses = (what) => what === 'write';
    await setting.play([call('Read', { file_path: 'open.txt' }), edit('edited', 'again'), after(text('Done.'))]);
    updates.length = 0;
    assert.equal((await prompt(ctx, sessionId, 'edit again')).stopReason, 'end_turn');
    assert.deepEqual(ends(updates).map(({ status }) => status), ['completed', 'failed']);
    assert.match(JSON.stringify(ends(updates)[1].content), /the file is locked/);
    assert.equal(fs.readFileSync(file, 'utf8'), 'edited\n');
    editor.texts.set(file, 'typed again\n');
    editor.refuses = () => true;
    await setting.play([call('Read', { file_path: 'open.txt' }), after(text('Done.'))]);
    updates.length = 0;
    await prompt(ctx, sessionId, 'read it');
    assert.match(JSON.stringify(ends(updates)[0].content), /1\\tedited/);
  });
  const sent = record.filter(({ message }) => message.method === 'fs/write_text_file');
  assert.deepEqual(sent.map(({ message }) => message.params.path),
                   [file, path.join(path.dirname(file), 'fresh.txt'), file]);
}

/** Commands run where the user sees them. */
async function commandsRunInTheEditorsTerminal() {
  const editor = new Editor();
  await setting.play([
    call('Bash', { command: 'mkdir -p sub && cd sub && echo "in $PWD with [$STET_KEY]" && exit 3' }),
    after(call('Bash', { command: 'pwd; kill -9 $$' })),
    after(call('Bash', { command: 'echo hidden', background: true })),
    after(text('Done.')),
    { when: { lastUser: 'wait' }, ...call('Bash', { command: 'touch begun.txt; echo begun; sleep 600' }) },
    { times: 0, ...text('Here I am.') },
  ]);
  const record = await withAgent({ permit: allow, editor }, async (ctx, { updates, next }) => {
    const sessionId = await open(ctx);
    assert.equal((await prompt(ctx, sessionId, 'run it')).stopReason, 'end_turn');
    const shown = updates.filter(({ content }) => content?.[0]?.type === 'terminal');
    assert.deepEqual(shown.map(({ content }) => content[0].terminalId), ['term_1', 'term_1', 'term_2', 'term_2']);
    const [first, second] = ends(updates).map((end) => JSON.stringify(end));
    assert.match(first, /"failed".*in .*\/sub with \[sesame\].*Exit code 3/);
    assert.match(second, /\/sub\\n.*Killed by signal 9/);
    assert.equal(editor.terminals.size, 2, 'what runs in the background runs here');

    const begun = next('tool_call_update');
    const stopped = prompt(ctx, sessionId, 'wait');
    await begun;
    while (!editor.terminals.get('term_3')?.output) await new Promise((resolve) => { setTimeout(resolve, 5); });
    await ctx.notify(methods.agent.session.cancel, { sessionId });
    assert.equal((await stopped).stopReason, 'cancelled');
    assert.equal((await editor.waitForExit({ terminalId: 'term_3' })).signal, 'SIGKILL');
    assert.match(JSON.stringify(ends(updates).at(-1)), /begun.*Stopped: the call was cancelled/);
  });
  // The client may hear of an answer before it has done what was asked of it before, so the lines are looked at.
  const place = (is) => record.findIndex(({ message }) => is(message));
  const prompts = record.filter(({ message }) => message.method === 'session/prompt').map(({ message }) => message.id);
  for (const [terminal, id] of [['term_1', prompts[0]], ['term_2', prompts[0]], ['term_3', prompts[1]]]) {
    const released = place(({ method, params }) => method === 'terminal/release' && params.terminalId === terminal);
    assert.ok(released >= 0 && released < place((message) => message.id === id && !message.method), terminal);
  }
}

/** The same when the sessions are worked on in a host of their own. */
async function anEditorServesAHostInAnotherProcess() {
  const host = (what) => soon(new Promise((resolve) => {
    spawn(process.env.STET_BIN, ['host', what], { env, stdio: 'ignore' }).once('close', resolve);
  }), `host ${what}`);
  assert.equal(await host('start'), 0);
  try {
    await anEditorsTextsAreReadAndWritten();
    await commandsRunInTheEditorsTerminal();
  } finally {
    await host('stop');
  }
}

/** A client that dies while it is asked leaves a session that is whole. */
async function aClientThatDiesLeavesASoundSession(request, asked) {
  fs.writeFileSync(setting.file('dead.txt'), 'saved\n');
  await setting.play([request, after(text('Never said.'))]);
  const record = newRecord();
  const [program, ...args] = agentCommand(record);
  const agent = spawn(program, args, { env, stdio: ['pipe', 'pipe', 'ignore'] });
  const ended = new Promise((resolve) => agent.once('close', resolve));
  const lines = [];
  const heard = (what) => soon((async () => {
    while (!lines.join('').includes(what)) await new Promise((resolve) => { setTimeout(resolve, 5); });
  })(), what);
  agent.stdout.on('data', (data) => lines.push(String(data)));
  const say = (id, method, params) => agent.stdin.write(`${JSON.stringify({ jsonrpc: '2.0', id, method, params })}\n`);
  say(1, 'initialize', { protocolVersion: 1, clientCapabilities: new Editor().capabilities() });
  say(2, 'session/new', { cwd: setting.project, mcpServers: [] });
  await heard('"sessionId"');
  const sessionId = /"sessionId":"([^"]+)"/.exec(lines.join(''))[1];
  say(3, 'session/prompt', { sessionId, prompt: [{ type: 'text', text: 'read it' }] });
  if (asked.startsWith('terminal')) {
    await heard('session/request_permission');
    const [, id] = /"id":("[^"]+"),"method":"session\/request_permission"/.exec(lines.join(''));
    agent.stdin.write(`{"jsonrpc":"2.0","id":${id},"result":${JSON.stringify(allow())}}\n`);
  }
  await heard(asked);
  const before = Date.now();
  agent.stdin.end();
  assert.equal(await soon(ended, 'the end of the agent'), 0);
  assert.ok(Date.now() - before < 8000, 'nobody waits for a client that is gone');
  const check = spawn(process.env.STET_BIN, ['sessions', 'verify', '--all'], { env, stdio: 'ignore' });
  assert.equal(await soon(new Promise((resolve) => check.once('close', resolve)), 'the check'), 0);
}

async function aSessionIsLoadedResumedListedAndDeleted(sessionId) {
  await setting.play([{ when: { contains: 'edit it', lastUser: 'and now' }, ...text('I remember.') }]);
  const open = { sessionId, cwd: setting.project, mcpServers: [] };
  await withAgent({}, async (ctx, { updates }) => {
    await ctx.request(methods.agent.session.load, open);
    assert.ok(kinds(updates).includes('user_message_chunk'));
    assert.equal(kinds(updates).filter((kind) => kind === 'tool_call').length, 5);
    assert.ok(kinds(updates).includes('plan'));
    assert.equal((await prompt(ctx, sessionId, 'and now?')).stopReason, 'end_turn');
  });
  await withAgent({}, async (ctx, { updates }) => {
    await ctx.request(methods.agent.session.resume, open);
    assert.ok(!kinds(updates).includes('user_message_chunk'));
    await ctx.request(methods.agent.session.close, { sessionId });
    const { sessions } = await ctx.request(methods.agent.session.list, { cwd: setting.project });
    assert.ok(sessions.some((one) => one.sessionId === sessionId));
    await ctx.request(methods.agent.session.delete, { sessionId });
    await assert.rejects(ctx.request(methods.agent.session.load, open));
    await assert.rejects(ctx.request(methods.agent.session.new, { cwd: 'relative', mcpServers: [] }), /cwd/);
  });
}

/** Runs acpx to its end; its agent is recorded. */
function acpx(record, args) {
  const agent = agentCommand(record).map((word) => JSON.stringify(word)).join(' ');
  const run = spawn(process.execPath, [path.resolve('node_modules/acpx/dist/cli.js'), '--agent', agent,
                                       '--cwd', setting.project, '--format', 'json', ...args],
                    { env, stdio: ['ignore', 'pipe', 'pipe'] });
  const out = { stdout: '', stderr: '' };
  for (const name of ['stdout', 'stderr']) run[name].on('data', (data) => { out[name] += data; });
  return soon(new Promise((resolve) => run.once('close', (code) => resolve({ code, ...out }))), `acpx ${args}`);
}

async function acpxRunsATask() {
  await setting.play([call('Write', { file_path: 'x.txt', content: 'by acpx' }), after(text('Written.'))]);
  const record = newRecord();
  const done = await acpx(record, ['--approve-all', 'exec', 'write it']);
  assert.equal(done.code, 0, done.stderr);
  assert.equal(fs.readFileSync(setting.file('x.txt'), 'utf8'), 'by acpx');
  const messages = checkRecord(record);
  assert.ok(messages.some(({ message }) => message.method === 'session/request_permission'));

  await setting.play([call('Write', { file_path: 'y.txt', content: 'no' }), after(text('Not written.'))]);
  const refused = newRecord();
  assert.equal((await acpx(refused, ['--deny-all', 'exec', 'write it'])).code, 5);
  assert.ok(!fs.existsSync(setting.file('y.txt')));
  checkRecord(refused);
}

/** What the agent says in acpx's output. */
const said = (output) => output.split('\n').filter(Boolean).map((line) => JSON.parse(line))
  .filter(({ params }) => params?.update?.sessionUpdate === 'agent_message_chunk')
  .map(({ params }) => params.update.content.text).join('');

/** A session that acpx keeps: its agent goes and comes back, and the session is loaded again. */
async function acpxGoesOnAndCancels() {
  await setting.play([{ when: { lastUser: 'first' }, ...text('Said.') },
                      { when: { contains: 'first', lastUser: 'second' }, ...text('Remembered.') }, stall]);
  const record = newRecord();
  const run = async (...args) => {
    const done = await acpx(record, ['--approve-all', '--ttl', '1', ...args]);
    assert.equal(done.code, 0, `${args}: ${done.stderr}`);
    return done.stdout;
  };
  const recorded = async (what, count) => {
    while (fs.readFileSync(record, 'utf8').split(what).length <= count)
      await new Promise((resolve) => { setTimeout(resolve, 20); });
  };
  await run('sessions', 'new');
  assert.equal(said(await run('prompt', 'first')), 'Said.');
  const agents = fs.readFileSync(record, 'utf8').split('"initialize').length - 1;
  await soon(recorded('{"ended":0}', agents), 'the end of the agent');
  assert.equal(said(await run('prompt', 'second')), 'Remembered.');
  const before = fs.readFileSync(record, 'utf8').split('agent_message_chunk').length;
  const stalled = acpx(record, ['--approve-all', 'prompt', 'stall']);
  await soon(recorded('agent_message_chunk', before), 'a reply');
  await run('cancel');
  assert.match((await stalled).stdout, /"stopReason":"cancelled"/);
  await run('sessions', 'close');
  const methodsSent = checkRecord(record).map(({ message }) => message.method);
  assert.ok(methodsSent.includes('session/load') || methodsSent.includes('session/resume'));
}

try {
  await setting.start();
  checkItself(newRecord());
  const session = await aTaskWithPermissionAndEdit();
  await cancels();
  await anEditorsTextsAreReadAndWritten();
  await commandsRunInTheEditorsTerminal();
  await anEditorServesAHostInAnotherProcess();
  await aClientThatDiesLeavesASoundSession(call('Read', { file_path: 'dead.txt' }), 'fs/read_text_file');
  await aClientThatDiesLeavesASoundSession(call('Bash', { command: 'touch never.txt' }), 'terminal/create');
  await aSessionIsLoadedResumedListedAndDeleted(session);
  await acpxRunsATask();
  await acpxGoesOnAndCancels();
  console.log('the protocol\'s clients drive stet');
} catch (error) {
  console.error(error);
  console.error(`stet said: ${setting.stderr}`);
  process.exitCode = 1;
} finally {
  setting.end();
}
// What still waits after a failure would keep it.
process.exit();
