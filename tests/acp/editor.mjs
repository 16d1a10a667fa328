// An editor as a client of the protocol has one: texts that are not saved, and terminals in which commands really run.
import { spawn } from 'node:child_process';
import fs from 'node:fs';
import { methods } from '@agentclientprotocol/sdk';

export class Editor {
  constructor() {
    this.texts = new Map();
    this.terminals = new Map();
    this.asked = [];
    this.last = 0;
  }

  capabilities() { return { fs: { readTextFile: true, writeTextFile: true }, terminal: true }; }

  read({ path }) {
    if (this.refuses?.('read')) throw new Error('it cannot be read');
    return { content: this.texts.has(path) ? this.texts.get(path) : fs.readFileSync(path, 'utf8') };
  }

  /** Into the text, and saved. */
  write({ path, content }) {
    if (this.refuses?.('write')) throw new Error('the file is locked');
    this.texts.set(path, content);
    fs.writeFileSync(path, content);
    return {};
  }

  create({ command, args, env, cwd, outputByteLimit }) {
    const terminalId = `term_${++this.last}`;
    const more = Object.fromEntries(env.map(({ name, value }) => [name, value]));
    const run = spawn(command, args, { cwd, env: { PATH: process.env.PATH, STET_KEY: 'sesame', ...more },
                                       stdio: ['ignore', 'pipe', 'pipe'], detached: true });
    const terminal = { run, output: '', truncated: false, limit: outputByteLimit };
    for (const stream of [run.stdout, run.stderr]) {
      stream.on('data', (data) => {
        terminal.output += data;
        terminal.truncated ||= terminal.output.length > terminal.limit;
        terminal.output = terminal.output.slice(-terminal.limit);
      });
    }
    terminal.ended = new Promise((resolve) => run.once('close', (exitCode, signal) => resolve({ exitCode, signal })));
    this.terminals.set(terminalId, terminal);
    return { terminalId };
  }

  output({ terminalId }) {
    const { output, truncated } = this.terminals.get(terminalId);
    return { output, truncated };
  }
  waitForExit({ terminalId }) { return this.terminals.get(terminalId).ended; }
  /** With all that it started, as a terminal does. */
  kill({ terminalId }) {
    try { process.kill(-this.terminals.get(terminalId).run.pid, 'SIGKILL'); } catch { /* It has ended. */ }
    return {};
  }
  release({ terminalId }) {
    this.kill({ terminalId });
    this.terminals.get(terminalId).released = true;
    return {};
  }

  /** The client with what it can do. */
  join(app) {
    const handle = (group, name, handler = name) => {
      app.onRequest(methods.client[group][name], ({ params }) => {
        this.asked.push(name);
        return this[handler](params);
      });
    };
    handle('fs', 'readTextFile', 'read');
    handle('fs', 'writeTextFile', 'write');
    for (const name of ['create', 'output', 'waitForExit', 'kill', 'release']) handle('terminal', name);
    return app;
  }
}
