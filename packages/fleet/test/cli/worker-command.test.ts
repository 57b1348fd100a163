import { once } from 'node:events';
import { createServer } from 'node:http';
import { fetch } from '@ouro-cli/ouro/commands';
import { expect, test } from 'vitest';
import { createWorkerObserver } from '../../src/cli/worker-command.ts';

function createOutput() {
  const lines: string[] = [];
  const stream = { isTty: false, write: (text: string) => void lines.push(text) };
  return { lines, stream };
}

test('health follows the connection to the queue', async () => {
  const { lines, stream } = createOutput();
  const observer = await createWorkerObserver({ health: 0 }, { stdout: stream, stderr: stream });
  const url = `http://127.0.0.1:${/:(\d+)\//.exec(lines[0] ?? '')?.[1]}`;
  const look = async (path: string, method = 'GET') => (await fetch(`${url}${path}`, { method })).status;
  expect(await look('/health')).toBe(200);
  observer.onEvent({ kind: 'error', code: 'queue-unavailable', message: 'The queue is away.' });
  expect([await look('/health'), await look('/metrics')]).toEqual([503, 200]);
  observer.onEvent({ kind: 'error', code: 'schedule-failed', message: 'No such host.' });
  observer.onEvent({ kind: 'reconnected' });
  expect([await look('/health'), await look('/other'), await look('/health', 'POST')]).toEqual([200, 404, 405]);
  await observer.close();
  await expect(fetch(`${url}/health`)).rejects.toThrow();
});

test('a used port is refused', async () => {
  const { stream } = createOutput();
  const server = createServer().listen(0, '127.0.0.1');
  await once(server, 'listening');
  const address = server.address();
  const health = typeof address === 'object' ? (address?.port ?? 0) : 0;
  await expect(createWorkerObserver({ health }, { stdout: stream, stderr: stream })).rejects.toThrow(
    `Port ${health} cannot be used`,
  );
  server.close();
});

test('keys are removed from the log', async () => {
  const { lines, stream } = createOutput();
  const observer = await createWorkerObserver({ log: 'json' }, { stdout: stream, stderr: stream });
  const message = 'connect postgres://ouro:hunter2hunter2@db.example.com/ouro failed';
  observer.onEvent({ kind: 'error', code: 'queue-unavailable', message });
  const [line = ''] = lines;
  expect(line).not.toContain('hunter2');
  expect(JSON.parse(line)).toMatchObject({ level: 'error', event: 'error', code: 'queue-unavailable' });
});
