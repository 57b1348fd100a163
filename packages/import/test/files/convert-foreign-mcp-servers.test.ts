import { expect, test } from 'vitest';
import { convertForeignMcpServers } from '../../src/files/convert-foreign-mcp-servers.ts';

const entryOf = (text: string, format: Parameters<typeof convertForeignMcpServers>[1]) =>
  convertForeignMcpServers(text, format)[0];

test('each format names addresses, programs and variables in its own way', () => {
  const vscode = JSON.stringify({ servers: { a: { type: 'sse', url: `https://x/\${env:TEAM}` } } });
  expect(entryOf(vscode, 'vscode')?.entry).toEqual({ type: 'sse', url: `https://x/\${TEAM}` });
  const gemini = JSON.stringify({ mcpServers: { a: { httpUrl: 'https://x', headers: { K: '$KEY' }, trust: true } } });
  expect(entryOf(gemini, 'gemini')).toEqual({
    name: 'a',
    entry: { type: 'http', url: 'https://x', headers: { K: `\${KEY}` } },
    lost: ['trust'],
  });
  const opencode = '{ "mcp": { "a": { "type": "remote", "url": "https://x", "headers": { "K": "{file:~/key}" } } } }';
  expect(entryOf(opencode, 'opencode')?.lost).toEqual(['a value from a file ({file:…})']);
  const codex = '[mcp_servers.a]\nurl = "https://x"\nenv_http_headers = { "X-Key" = "KEY" }\nenabled = false\n';
  expect(entryOf(codex, 'codex')?.entry).toEqual({
    type: 'http',
    url: 'https://x',
    headers: { 'X-Key': `\${KEY}` },
    disabled: true,
  });
});

test('variables that Codex passes on are named, and every other field is lost', () => {
  const codex = '[mcp_servers.a]\ncommand = "run"\nenv_vars = ["TOKEN", { name = "HOST" }]\nstartup_timeout_sec = 20\n';
  expect(entryOf(codex, 'codex')).toEqual({
    name: 'a',
    entry: { command: 'run', args: [], env: { TOKEN: `\${TOKEN:-}`, HOST: `\${HOST:-}` } },
    lost: ['startup_timeout_sec'],
  });
  const here = JSON.stringify({ servers: { a: { command: 'run', cwd: `\${workspaceFolder}` } } });
  expect(entryOf(here, 'vscode')?.lost).toEqual([]);
  expect(entryOf(here.replace(`\${workspaceFolder}`, 'sub'), 'vscode')?.lost).toEqual(['cwd']);
});

test('invalid servers are skipped, and an invalid file is an error', () => {
  expect(
    convertForeignMcpServers('{ "mcpServers": { "a": {}, "b": 7, "c": { "command": "run" } } }', 'claude'),
  ).toEqual([{ name: 'c', entry: { command: 'run', args: [] }, lost: [] }]);
  expect(convertForeignMcpServers('{}', 'vscode')).toEqual([]);
  expect(() => convertForeignMcpServers('[mcp_servers', 'codex')).toThrow();
});
