import { existsSync } from 'node:fs';
import { readdir } from 'node:fs/promises';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { calls, says, toolUse } from '../support/api/reply.ts';
import { type ApiServer, gate, startApiServer } from '../support/api/server.ts';
import { longTest } from '../support/long-test.ts';
import { listLeft, processesMarked } from '../support/processes.ts';
import { runOuro, startOuro } from '../support/run-ouro.ts';
import { someOf } from '../support/runs.ts';
import { storedFile, storedFiles } from '../support/stored-sessions.ts';
import { createTempProject, type TempProject } from '../support/temp-project.ts';

let project: TempProject;
let server: ApiServer;

beforeEach(async () => {
  project = await createTempProject();
});

afterEach(async () => {
  await server?.close();
  await project.remove();
});

const commands = async () => (await processesMarked(project.marker)).map(({ command }) => command);

test.each(
  someOf([
    ['SIGTERM', 143, ''],
    ['SIGTERM', 143, 'trap "" HUP TERM; '],
    ['SIGHUP', 129, ''],
    ['SIGQUIT', 131, ''],
    ['SIGUSR1', 138, ''],
    ['SIGALRM', 142, ''],
  ] as const),
)('%s leaves no process, no lock, and the whole session', async (signal, code, trap) => {
  const { closed, open } = gate();
  server = await startApiServer({
    turns: (_, index) =>
      index === 0
        ? calls(toolUse('Bash', { command: `(${trap}sleep 303) & setsid sleep 304`, run_in_background: true }))
        : says('never', { faults: [{ at: 2, do: 'wait', until: closed, pings: 'pings' }] }),
  });
  const env = { IS_SANDBOX: '1' };
  const running = startOuro(project, ['-p', 'go', '--dangerously-skip-permissions'], server.url, { env });
  await expect.poll(async () => (await commands()).filter((one) => one.startsWith('sleep 30')).length).toBe(2);
  await server.waitForRequest(2);
  running.child.kill(signal);
  expect((await running.ended).code).toBe(code);
  open();
  expect(await listLeft(project.marker)).toEqual([]);
  expect(await readdir(join(project.ouroHome, 'running'))).toEqual([]);
  const { path, records } = await storedFile(project);
  expect(JSON.stringify(records.slice(-6))).toMatch(/agent_end.*command-end/);
  expect(existsSync(path.replace(/jsonl$/, 'lock'))).toBe(false);
});

longTest(
  'processes left by a killed ouro are ended by the next start: foreground and background shells, and those of a sub-agent',
  async () => {
    const shell = (command: string, more: object = {}) => toolUse('Bash', { command, ...more });
    server = await startApiServer({
      turns(request) {
        const said = JSON.stringify(request.body.messages);
        if (said.includes('again')) return says('fine');
        if (said.includes('deep down')) return calls(shell('(trap "" TERM HUP; sleep 301; sleep 304) & wait'));
        return calls(
          shell('setsid sleep 302 & sleep 303', { run_in_background: true }),
          toolUse('Task', { description: 'dig', prompt: 'deep down', subagent_type: 'general-purpose' }),
        );
      },
    });
    const env = { IS_SANDBOX: '1' };
    const running = startOuro(project, ['-p', 'go', '--dangerously-skip-permissions'], server.url, { env });
    await expect.poll(async () => (await commands()).filter((one) => one.startsWith('sleep 30')).length).toBe(3);
    running.child.kill('SIGKILL');
    await running.ended;
    expect((await commands()).length).toBeGreaterThanOrEqual(3);
    const next = await runOuro(project, ['-p', 'again'], server.url);
    expect(next).toMatchObject({ code: 0, stdout: 'fine\n' });
    expect(await listLeft(project.marker)).toEqual([]);
    const { id } = (await storedFiles(project)).find(({ records }) => JSON.stringify(records).includes('"go"')) ?? {};
    const resumed = await runOuro(project, ['-p', '--resume', id ?? '', 'again, please'], server.url);
    expect(resumed.stderr).toMatch(/Still running when .* was killed, and ended now: setsid sleep 302/);
    expect(server.requests().at(-1)?.raw).toContain('Still running when');
  },
);

longTest(
  'workspace backups of a killed ouro are cleaned up at the next start, and its command can be undone',
  async () => {
    await project.write('a.txt', 'before\n');
    const { closed, open } = gate();
    server = await startApiServer({
      turns: (request) =>
        JSON.stringify(request.body.messages).includes('again')
          ? says('fine', { faults: [{ at: 1, do: 'wait', until: closed, pings: 'pings' }] })
          : calls(toolUse('Bash', { command: 'echo after > a.txt; touch here; sleep 305' })),
    });
    const env = { IS_SANDBOX: '1' };
    const running = startOuro(project, ['-p', 'go', '--dangerously-skip-permissions'], server.url, { env });
    await expect.poll(() => existsSync(join(project.dir, 'here'))).toBe(true);
    running.child.kill('SIGKILL');
    await running.ended;
    const packs = async () =>
      (await readdir(project.ouroHome, { recursive: true })).filter((name) => name.endsWith('pack'));
    const { id } = await storedFile(project);
    expect(await packs()).toHaveLength(1);
    const next = startOuro(project, ['-p', 'again'], server.url);
    await expect.poll(packs).toEqual([]);
    open();
    await next.ended;
    expect((await runOuro(project, ['undo', '--session', id])).stdout).toContain('restored a.txt');
    expect(existsSync(join(project.dir, 'here'))).toBe(false);
  },
);
