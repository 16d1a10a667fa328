// Stands between a client and an agent, and records every line both ways: tee.mjs RECORD COMMAND...
// A record is a line of JSON, {from, line}, or {ended} when the agent has ended.
import { spawn } from 'node:child_process';
import fs from 'node:fs';

const [record, ...command] = process.argv.slice(2);
const agent = spawn(command[0], command.slice(1), { stdio: ['pipe', 'pipe', 'inherit'] });

function carry(from, source, target) {
  let rest = '';
  source.setEncoding('utf8');
  source.on('data', (text) => {
    rest += text;
    const lines = rest.split('\n');
    rest = lines.pop();
    for (const line of lines) fs.appendFileSync(record, `${JSON.stringify({ from, line })}\n`);
    target.write(text);
  });
  source.on('end', () => {
    if (rest !== '') fs.appendFileSync(record, `${JSON.stringify({ from, line: rest })}\n`);
    target.end();
  });
}

carry('client', process.stdin, agent.stdin);
carry('agent', agent.stdout, process.stdout);
agent.stdin.on('error', () => {});
process.stdout.on('error', () => {});
for (const signal of ['SIGTERM', 'SIGINT']) process.on(signal, () => agent.kill(signal));
agent.on('close', (code) => {
  fs.appendFileSync(record, `${JSON.stringify({ ended: code })}\n`);
  process.exitCode = code ?? 1;
  process.stdin.destroy();
});
