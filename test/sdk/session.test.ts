import { readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { beforeEach, expect, onTestFinished, test, vi } from 'vitest';
import { createAgent } from '../../src/sdk/agent/create-agent.ts';
import { openSession, readMessages } from '../../src/sdk/session.ts';
import { says, scripted } from '../support/loop/scripted.ts';
import { createTempFolder } from '../support/temp-folder.ts';

let dir = '';
beforeEach(() => {
  dir = createTempFolder();
});

test.each(['../x', 'a/b', '..', '', 'a\0b'])(
  'a session with the id %j is neither opened nor read',
  async (sessionId) => {
    await expect(openSession({ dir, sessionId })).rejects.toThrow('is not a plain name');
    await expect(readMessages({ dir, sessionId })).rejects.toThrow('is not a plain name');
    expect(readdirSync(dir)).toEqual([]);
  },
);

test('a second writer is refused, also for a new session', async () => {
  const first = await openSession({ dir, sessionId: 'one' });
  await expect(openSession({ dir, sessionId: 'one' })).rejects.toThrow(
    'The session one is already open in this process',
  );
  await first.close();
  const second = await openSession({ dir, sessionId: 'one' });
  await second.close();
  expect(readdirSync(dir)).toEqual([]);
});

test('when two processes open a new session at once, one is refused', async () => {
  const opened = await Promise.allSettled([1, 2, 3].map(() => openSession({ dir, sessionId: 'one' })));
  expect(opened.filter(({ status }) => status === 'fulfilled')).toHaveLength(1);
  for (const result of opened) if (result.status === 'fulfilled') await result.value.close();
});

test('an unfinished reply survives a kill', async () => {
  const session = await openSession({ dir, sessionId: 'one' });
  const half = { ...says(''), blocks: [], unfinished: 'Half an answer', hold: new Promise<void>(() => undefined) };
  const agent = createAgent({ model: scripted([half]).model, listeners: [session.record] });
  void agent.prompt('hi');
  const journal = join(dir, 'answers', 'one.json');
  await expect.poll(() => readTextFile(journal)).toContain('Half an answer');
  // The files of a process that was killed now.
  const files = ['one.jsonl', 'answers/one.json'].map((name) => [name, readFileSync(join(dir, name))] as const);
  agent.abort();
  await agent.waitForIdle();
  await session.close();
  for (const [name, content] of files) writeFileSync(join(dir, name), content);

  expect(JSON.stringify(await readMessages({ dir, sessionId: 'one' }))).toContain('Half an answer');
  const again = await openSession({ dir, sessionId: 'one' });
  expect(again.messages.map(({ role }) => role)).toEqual(['user', 'assistant', 'user']);
  const script = scripted([says('and the rest')]);
  const resumed = createAgent({ model: script.model, messages: again.messages, listeners: [again.record] });
  expect(await resumed.resume()).toMatchObject({ reason: 'completed', text: 'and the rest' });
  expect(JSON.stringify(script.requests()[0]?.messages)).toContain('Half an answer');
  await again.close();
  const stored = await readMessages({ dir, sessionId: 'one' });
  expect(stored.map(({ role }) => role)).toEqual(['user', 'assistant', 'user', 'assistant']);
});

function readTextFile(path: string): string {
  try {
    return readFileSync(path, 'utf8');
  } catch {
    return '';
  }
}

test('a session contains no key of the host, whole or quoted, and none of a provider', async () => {
  const key = 'host-key-"0123456789\\abcdef';
  const provider = 'sk-ant-0123456789-abcdefghij';
  vi.stubEnv('ANTHROPIC_API_KEY', provider);
  onTestFinished(() => void vi.unstubAllEnvs());
  const session = await openSession({ dir, sessionId: 'one', secrets: { HOST_KEY: key } });
  const agent = createAgent({ model: scripted([says(`It is ${key}.`)]).model, listeners: [session.record] });
  await agent.prompt(`my key ${key} as JSON ${JSON.stringify({ key })} and ${provider}`);
  await session.close();
  const stored = readFileSync(session.path, 'utf8');
  expect(['0123456789', 'abcdef'].filter((part) => stored.includes(part))).toEqual([]);
  expect(stored).toContain('[key of HOST_KEY left out]');
  expect(stored).toContain('[key of ANTHROPIC_API_KEY left out]');
  expect(JSON.stringify(await readMessages({ dir, sessionId: 'one' }))).toContain('my key [key of HOST_KEY left out]');
});

test('a session that does not exist has no messages', async () => {
  expect(await readMessages({ dir, sessionId: 'none' })).toEqual([]);
  expect(readdirSync(dir)).toEqual([]);
});

test.each([
  [{}, 'openSession: dir: must be the path of a folder.'],
  [{ dir: '' }, 'dir: must be the path of a folder.'],
  [{ dir: '/tmp', id: 'x' }, 'unknown field "id". Did you mean "dir"?'],
  [{ dir: '/tmp', sessionId: 5 }, 'sessionId: must be a text.'],
  [undefined, 'openSession: '],
])('openSession(%j) is refused by name', async (location, words) => {
  await expect(Reflect.apply(openSession, undefined, [location])).rejects.toThrow(words);
});
