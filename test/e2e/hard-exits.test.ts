import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as wait } from 'node:timers/promises';
import { expect, test } from 'vitest';
import { calls, says, toolUse } from '../support/api/reply.ts';
import { type ApiServer, gate, startApiServer } from '../support/api/server.ts';
import { longTest } from '../support/long-test.ts';
import { listLeft, processesMarked } from '../support/processes.ts';
import { startOuro } from '../support/run-ouro.ts';
import { someOf } from '../support/runs.ts';
import { createTempProject, type TempProject } from '../support/temp-project.ts';

const STUBBORN = join(import.meta.dirname, '../support/stubborn-server.mjs');

const FIRST = ['SIGINT', 'SIGTERM', 'SIGHUP', 'SIGQUIT'] as const;
const SECOND = ['SIGINT', 'SIGTERM', 'SIGHUP'] as const;
const DISTANCES_MS = [0, 20, 200, 1_000] as const;
const HABITS = [
  'stays when its input ends',
  'computes without a pause',
  'reads nothing any more',
  'closes its output',
  'prints without end',
  'has a child in a session of its own',
  'has a child without its environment',
  'has a child in its group',
  'starts children for ever',
  'is stopped',
  'exits and leaves a child',
] as const;

/** A run that waits in the middle of a reply, with a stubborn server, a shell in the background and one in front. */
async function startBusyRun(project: TempProject, server: ApiServer, protocol: 'mcp' | 'lsp', habit: string) {
  const begun = join(project.home, 'begun');
  const entry = { command: process.execPath, args: [STUBBORN, protocol, begun, habit] };
  const isLanguage = protocol === 'lsp';
  await project.write('a.word', 'good\n');
  await project.write(
    '../kit/.claude-plugin/plugin.json',
    JSON.stringify({
      name: 'kit',
      ...(isLanguage
        ? { lspServers: { words: { ...entry, extensionToLanguage: { '.word': 'words' } } } }
        : { mcpServers: { stubborn: entry } }),
    }),
  );
  const args = ['-p', `go ${protocol}`, '--plugin-dir', '../kit', '--dangerously-skip-permissions'];
  const running = startOuro(project, args, server.url, { env: { IS_SANDBOX: '1' } });
  const sleepers = async () =>
    (await processesMarked(project.marker)).filter(({ command }) => command.startsWith('sleep 30'));
  await expect.poll(() => existsSync(begun)).toBe(true);
  await expect.poll(async () => (await sleepers()).length).toBe(isLanguage ? 0 : 2);
  return running;
}

/** Reads a file, starts shells that ignore signals, and then never finishes its second reply. */
function startSlowApi(finished: Promise<unknown>): Promise<ApiServer> {
  const shells = ['trap "" TERM INT HUP; sleep 301', 'trap "" TERM INT HUP; setsid sleep 302 & wait'];
  return startApiServer({
    turns({ raw }) {
      if (raw.includes('tool_result'))
        return says('never', { faults: [{ at: 2, do: 'wait', until: finished, pings: 'pings' }] });
      if (raw.includes('go lsp')) return calls(toolUse('Read', { file_path: 'a.word' }));
      return calls(...shells.map((command) => toolUse('Bash', { command, run_in_background: true })));
    },
  });
}

const doubleSignals = FIRST.flatMap((first) => SECOND.map((second) => [first, second] as const));

longTest.each(someOf(DISTANCES_MS))('a second signal %i ms after the first leaves no process behind', async (ms) => {
  const ends = await mapInTurns(someOf(doubleSignals), async ([first, second], index) => {
    await using project = await createTempProject();
    const { closed, open } = gate();
    await using server = await startSlowApi(closed);
    const running = await startBusyRun(project, server, 'mcp', HABITS[index % HABITS.length] ?? '');
    running.child.kill(first);
    if (ms > 0) await wait(ms);
    running.child.kill(second);
    const { code } = await running.ended;
    open();
    return { first, second, isSignal: code !== null && code > 128, left: await listLeft(project.marker) };
  });
  expect(ends).toEqual(ends.map((end) => ({ ...end, isSignal: true, left: [] })));
});

const ENDINGS = {
  'the end of its run': [],
  'one signal': ['SIGTERM'],
  'two signals at once': ['SIGTERM', 'SIGINT'],
  'the signal of a timer': ['SIGVTALRM'],
} as const;
const endings = Object.entries(ENDINGS);

test.each(someOf(endings))('a stubborn language server is ended after %s', async (_, signals) => {
  const ends = await mapInTurns(someOf(HABITS), async (habit) => {
    await using project = await createTempProject();
    const { closed, open } = gate();
    await using server = await startSlowApi(closed);
    const running = await startBusyRun(project, server, 'lsp', habit);
    if (signals.length === 0) open();
    for (const signal of signals) running.child.kill(signal);
    await running.ended;
    open();
    return { habit, left: await listLeft(project.marker) };
  });
  expect(ends).toEqual(ends.map((end) => ({ ...end, left: [] })));
});

test.each(someOf(['PreToolUse', 'UserPromptSubmit']))(
  'a %s hook that ignores signals ends with its run',
  async (event) => {
    await using project = await createTempProject({ 'a.txt': 'alpha\n' });
    await using server = await startApiServer({ turns: [calls(toolUse('Read', { file_path: 'a.txt' }))] });
    const command = 'trap "" TERM INT HUP; touch "$HOME/begun"; sleep 303';
    const settings = JSON.stringify({ hooks: { [event]: [{ hooks: [{ type: 'command', command }] }] } });
    const running = startOuro(project, ['-p', 'go', '--settings', settings], server.url);
    await expect.poll(() => existsSync(join(project.home, 'begun'))).toBe(true);
    running.child.kill('SIGTERM');
    expect((await running.ended).code).toBe(143);
    expect(await listLeft(project.marker)).toEqual([]);
  },
);

test.each(
  someOf([
    ['Stop', []],
    ['SessionEnd', []],
    ['SessionEnd', ['--input-format=stream-json', '--output-format=stream-json', '--verbose']],
  ] as const),
)('a signal during a %s hook after the answer sets the exit code (%j)', async (event, flags) => {
  await using project = await createTempProject();
  await using server = await startApiServer({ turns: [says('Done.')] });
  const command = 'touch "$HOME/begun"; sleep 303';
  const settings = JSON.stringify({ hooks: { [event]: [{ hooks: [{ type: 'command', command }] }] } });
  const isHost = flags.length > 0;
  const stdin = JSON.stringify({ type: 'user', message: { role: 'user', content: 'go' } });
  const args = ['-p', ...flags, ...(isHost ? [] : ['go']), '--settings', settings];
  const running = startOuro(project, args, server.url, isHost ? { stdin } : {});
  await expect.poll(() => existsSync(join(project.home, 'begun'))).toBe(true);
  running.child.kill('SIGTERM');
  const ended = await running.ended;
  expect({ code: ended.code, hasAnswer: ended.stdout.includes('Done.') }).toEqual({ code: 143, hasAnswer: true });
  expect(await listLeft(project.marker)).toEqual([]);
});

test('a signal to "ouro mcp list" stops its servers', async () => {
  await using project = await createTempProject();
  const begun = join(project.home, 'begun');
  const entry = { command: process.execPath, args: [STUBBORN, 'mcp', begun, 'stays when its input ends'] };
  const mute = { command: 'sleep', args: ['60'] };
  await project.write('../home/.ouro/settings.json', JSON.stringify({ mcpServers: { stubborn: entry, mute } }));
  const running = startOuro(project, ['mcp', 'list']);
  await expect.poll(() => existsSync(begun)).toBe(true);
  running.child.kill('SIGTERM');
  expect((await running.ended).code).toBe(143);
  expect(await listLeft(project.marker)).toEqual([]);
});

const AT_ONCE = 4;

/** Maps a few at a time: most of a case is waiting. */
async function mapInTurns<T, R>(cases: readonly T[], run: (one: T, index: number) => Promise<R>): Promise<R[]> {
  const results: R[] = [];
  const queue = [...cases.entries()];
  const work = async () => {
    for (let next = queue.shift(); next !== undefined; next = queue.shift())
      results[next[0]] = await run(next[1], next[0]);
  };
  await Promise.all(Array.from({ length: AT_ONCE }, work));
  return results;
}
