// Where the checks of drive.mjs happen: a project, a home of stet's own, and a scripted model.
import { spawn } from 'node:child_process';
import fs from 'node:fs';
import os from 'node:os';
import path from 'node:path';

const program = process.env.STET_BIN;
if (!program) throw new Error('$STET_BIN names the program to test; ./test sets it');

const patienceMs = 60_000;

/** What `promise` gives, or an error that says what was waited for. */
export function soon(promise, what) {
  let timer;
  const late = new Promise((_, reject) => {
    timer = setTimeout(() => reject(new Error(`${what}: nothing came in ${patienceMs} ms`)), patienceMs);
  });
  return Promise.race([promise, late]).finally(() => clearTimeout(timer));
}

export class Setting {
  constructor() {
    this.folder = fs.mkdtempSync(path.join(os.tmpdir(), 'stet_sdk.'));
    this.project = path.join(this.folder, 'project');
    this.home = path.join(this.folder, 'home');
    fs.mkdirSync(this.project);
    fs.mkdirSync(this.home);
    this.stderr = '';
  }

  /** Starts the emulator; the model that is configured is what it plays. */
  async start() {
    const script = path.join(this.folder, 'script.json');
    fs.writeFileSync(script, '{"replies":[]}');
    const portFile = path.join(this.folder, 'port');
    this.emulator = spawn(program, ['emulator', '--script', script, '--port-file', portFile],
                          { stdio: ['ignore', 'pipe', 'inherit'] });
    await soon(new Promise((resolve) => this.emulator.stdout.once('data', resolve)), 'the emulator');
    this.url = `http://127.0.0.1:${fs.readFileSync(portFile, 'utf8').trim()}`;
    fs.writeFileSync(path.join(this.home, 'config.toml'),
                     `[model]\ntype='custom'\nid='m'\napi='anthropic-messages'\nbaseUrl='${this.url}'\n`);
  }

  async play(replies) {
    const answer = await fetch(`${this.url}/emulator/script`,
                               { method: 'POST', body: JSON.stringify({ replies }) });
    if (!answer.ok) throw new Error(`the script is wrong: ${await answer.text()}`);
  }

  /** Options of query() that make it drive stet here. */
  options(more) {
    return {
      pathToClaudeCodeExecutable: program,
      cwd: this.project,
      env: { PATH: process.env.PATH, STET_HOME: this.home, TZ: 'UTC', LC_ALL: 'C.UTF-8' },
      stderr: (text) => { this.stderr += text; },
      ...more,
    };
  }

  file(name) { return path.join(this.project, name); }

  end() {
    this.emulator?.kill();
    fs.rmSync(this.folder, { recursive: true, force: true });
  }
}

/** Messages that are said one by one while a query runs. */
export class Speaker {
  constructor() {
    this.waiting = [];
    this.wake = null;
    this.done = false;
  }
  say(text) {
    this.waiting.push({ type: 'user', session_id: '', parent_tool_use_id: null,
                        message: { role: 'user', content: text } });
    this.wake?.();
  }
  end() {
    this.done = true;
    this.wake?.();
  }
  async *[Symbol.asyncIterator]() {
    while (true) {
      while (this.waiting.length > 0) yield this.waiting.shift();
      if (this.done) return;
      await new Promise((resolve) => { this.wake = resolve; });
    }
  }
}
