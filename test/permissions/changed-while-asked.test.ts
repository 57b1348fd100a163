import { mkdir, rename, rm, symlink, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import type { PermissionRequest } from '../../src/contracts/permission.ts';
import type { GateVerdict } from '../../src/contracts/tool.ts';
import { diskFs } from '../../src/permissions/permission-fs.ts';
import { createPermissionGate, type GateDecisionRecord } from '../../src/permissions/permission-gate.ts';
import { getToolFacts } from '../../src/tools/tool-traits.ts';
import { createTempProject, type TempProject } from '../support/temp-project.ts';
import { policyFor } from './fixture.ts';

type Input = Readonly<Record<string, string>>;
type Asked = {
  readonly verdict: GateVerdict;
  readonly asked: readonly PermissionRequest[];
  readonly record?: GateDecisionRecord;
};

/** Asks about a call; `change` happens while the question stands, and each question is answered with yes. */
async function ask(project: TempProject, tool: string, input: Input, change: () => Promise<unknown>): Promise<Asked> {
  const asked: PermissionRequest[] = [];
  const records: GateDecisionRecord[] = [];
  const { home, dir: ws } = project;
  const gate = createPermissionGate({
    getPolicy: () => policyFor({ home, ws, outside: join(home, 'outside') }),
    fs: diskFs,
    getToolFacts,
    newId: () => 'id',
    onDecision: (record) => void records.push(record),
    changeMode: () => undefined,
    rememberRules: async () => undefined,
    async askUser(request) {
      asked.push(request);
      await change();
      return { behavior: 'allow' };
    },
  });
  const request = { tool, callId: 'c', input, cwd: ws, title: 'x', isReadOnly: false };
  const verdict = await gate(request, {}, new AbortController().signal);
  const [record] = records;
  return { verdict, asked, ...(record === undefined ? {} : { record }) };
}

/** Swaps a folder for a link to the folder of keys, once. */
function createSwap(project: TempProject, folder = 'out') {
  let isSwapped = false;
  return async () => {
    if (isSwapped) return;
    isSwapped = true;
    await rename(join(project.dir, folder), join(project.dir, `${folder}-before`));
    await symlink(join(project.home, '.ssh'), join(project.dir, folder));
  };
}

async function createProject() {
  const project = await createTempProject({ 'out/a.txt': 'a', 'src/a.txt': 'a', 'build.sh': 'true' });
  await mkdir(join(project.home, '.ssh'));
  return project;
}

test.each([
  ['Write', { file_path: 'out/authorized_keys', content: 'key' }],
  ['Bash', { command: 'echo key > out/authorized_keys' }],
  ['Bash', { command: 'cp src/a.txt out/authorized_keys' }],
  ['Bash', { command: 'cp src/a.txt out' }],
  ['Bash', { command: 'touch out/authorized_keys' }],
  ['Bash', { command: 'mkdir out/x' }],
  ['Bash', { command: 'npm run build && tee out/authorized_keys' }],
  ['Bash', { command: 'cd out && npm test' }],
  ['Bash', { command: 'npm --prefix out test' }],
  ['Bash', { command: 'node build.js --target=out/x' }],
  ['Bash', { command: 'tar xf a.tar -C out' }],
  ['Bash', { command: 'sh build.sh out' }],
])('%s %j is asked about again when a folder was replaced meanwhile', async (tool, input) => {
  await using project = await createProject();
  const { asked, verdict } = await ask(project, tool, input, createSwap(project));
  expect([asked.length, verdict.behavior]).toEqual([2, 'allow']);
});

test('the second question shows where the write leads', async () => {
  await using project = await createProject();
  const input = { file_path: 'out/authorized_keys', content: 'key' };
  const { asked, record } = await ask(project, 'Write', input, createSwap(project));
  const key = join(project.home, '.ssh/authorized_keys');
  expect(asked.map(({ targets, danger }) => [targets.map(({ real }) => real), danger])).toEqual([
    [[], 'none'],
    [[key], 'breaker'],
  ]);
  expect(record?.decision.writes).toEqual([key]);
});

test('a folder swapped before each answer is never written through', async () => {
  await using project = await createProject();
  const [keys, out] = [join(project.home, '.ssh'), join(project.dir, 'out')];
  let leadsAway = false;
  const input = { file_path: 'out/new.txt', content: 'x' };
  const { asked, verdict } = await ask(project, 'Write', input, async () => {
    await rm(out, { recursive: true });
    await (leadsAway ? mkdir(out) : symlink(keys, out));
    leadsAway = !leadsAway;
  });
  expect([asked.length, verdict.behavior]).toEqual([3, 'deny']);
});

test('the folder of the call is part of the question', async () => {
  await using project = await createProject();
  let isSwapped = false;
  const { asked } = await ask(project, 'Bash', { command: 'npm test' }, async () => {
    if (isSwapped) return;
    isSwapped = true;
    await rename(project.dir, `${project.dir}-before`);
    await symlink(join(project.home, '.ssh'), project.dir);
  });
  expect(asked.length).toBe(2);
});

test('unrelated changes do not matter: the answer applies', async () => {
  await using project = await createProject();
  const change = () => writeFile(join(project.dir, 'src/b.txt'), 'b');
  for (const [tool, input] of [
    ['Write', { file_path: 'src/c.txt', content: 'c' }],
    ['Bash', { command: 'cp src/a.txt src/d.txt && npm test src/*' }],
  ] as const) {
    const { asked, verdict } = await ask(project, tool, input, change);
    expect([asked.length, verdict.behavior]).toEqual([1, 'allow']);
  }
});
