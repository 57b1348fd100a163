// A tool or language server on pipes that does not end when it should. `stubborn-server.mjs <protocol> <file> <habit>`,
// where the protocol is `mcp` or `lsp`. After its initialization it creates the file and does the habit.
import { spawn } from 'node:child_process';
import { writeFileSync } from 'node:fs';

const [protocol, file, habit] = process.argv.slice(2);

for (const signal of ['SIGTERM', 'SIGINT', 'SIGHUP', 'SIGPIPE']) process.on(signal, () => undefined);
process.stdout.on('error', () => undefined);
setInterval(() => undefined, 60_000);

const HABITS = {
  'stays when its input ends': () => undefined,
  'computes without a pause'() {
    for (;;);
  },
  'reads nothing any more': () => process.stdin.pause(),
  'closes its output': () => process.stdout.end(),
  'prints without end'() {
    const print = () => process.stderr.write('noise '.repeat(1000), print);
    print();
  },
  'has a child in a session of its own': () => startSleeper({ detached: true }),
  'has a child without its environment': () => startSleeper({ detached: true, env: {} }),
  'has a child in its group': () => startSleeper({}),
  'starts children for ever': () => setInterval(() => startSleeper({ detached: true }), 20),
  'is stopped': () => process.kill(process.pid, 'SIGSTOP'),
  'exits and leaves a child'() {
    startSleeper({ detached: true });
    process.exit(3);
  },
};

function startSleeper(options) {
  const command = 'trap "" TERM INT HUP; while :; do sleep 60; done';
  spawn('/bin/bash', ['-c', command], { stdio: 'ignore', ...options }).unref();
}

const RESULTS = {
  mcp: {
    initialize: ({ protocolVersion }) => ({
      protocolVersion,
      capabilities: { tools: {} },
      serverInfo: { name: 'stubborn', version: '1' },
    }),
    'tools/list': () => ({ tools: [] }),
  },
  lsp: { initialize: () => ({ capabilities: { textDocumentSync: 1 } }) },
};

function send(message) {
  const text = JSON.stringify({ jsonrpc: '2.0', ...message });
  process.stdout.write(protocol === 'mcp' ? `${text}\n` : `Content-Length: ${Buffer.byteLength(text)}\r\n\r\n${text}`);
}

function handle({ id, method, params }) {
  const answer = RESULTS[protocol][method];
  if (id !== undefined && answer !== undefined) send({ id, result: answer(params) });
  // The answer has to leave before the habit keeps the process from writing.
  if (method === (protocol === 'mcp' ? 'notifications/initialized' : 'textDocument/didOpen')) setTimeout(begin, 10);
}

function begin() {
  writeFileSync(file, 'begun');
  HABITS[habit]();
}

let held = '';
process.stdin.setEncoding('utf8').on('data', (chunk) => {
  held += chunk;
  for (;;) {
    const found = protocol === 'mcp' ? /^([^\n]*)\n/.exec(held) : takeMessage();
    if (found === null) return;
    held = held.slice(found[0].length);
    handle(JSON.parse(found[1]));
  }
});

function takeMessage() {
  const header = /^Content-Length: (\d+)\r\n\r\n/.exec(held);
  const end = header === null ? 0 : header[0].length + Number(header[1]);
  return header === null || held.length < end ? null : [held.slice(0, end), held.slice(header[0].length, end)];
}
