import { mkdir, rename, rm, symlink, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import type { PermissionRequest, RememberDestination } from '../../src/contracts/permission.ts';
import type { GateVerdict } from '../../src/contracts/tool.ts';
import { type AnsweredScripts, createAnsweredScripts } from '../../src/permissions/answered-scripts.ts';
import { diskFs } from '../../src/permissions/permission-fs.ts';
import { createPermissionGate, type GateDecisionRecord } from '../../src/permissions/permission-gate.ts';
import { getToolFacts } from '../../src/tools/tool-traits.ts';
import { someOf } from '../support/runs.ts';
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

type Scripted = readonly [command: string, file: string];

/** Commands that run a file, and the file. */
const SCRIPTED: readonly Scripted[] = [
  ['bash b.sh', 'b.sh'],
  ['sh ./b.sh --fast', 'b.sh'],
  ['./run', 'run'],
  ['sub/run x', 'sub/run'],
  ['python3 x.py', 'x.py'],
  ['node x.js', 'x.js'],
  ['node --no-warnings x.js', 'x.js'],
  ['ruby x.rb', 'x.rb'],
  ['cd sub && bash c.sh', 'sub/c.sh'],
  ['bash < b.sh', 'b.sh'],
  ['env X=1 bash b.sh', 'b.sh'],
  ['timeout 9 bash b.sh', 'b.sh'],
  ['true; bash "b.sh"', 'b.sh'],
  [`bash -c 'bash b.sh'`, 'b.sh'],
  ['find . -name b.sh -exec bash b.sh {} +', 'b.sh'],
];

/** Later variants. */
const LATER: readonly Scripted[] = [
  ['. ./b.sh', 'b.sh'],
  ['source b.sh', 'b.sh'],
  ['cat b.sh | sh', 'b.sh'],
  ['sh $(echo b.sh)', 'b.sh'],
  ['make -f sub/Makefile t', 'sub/Makefile'],
  ['make t', 'Makefile'],
  ['python3 -m x', 'x.py'],
  ['node -r ./x.js -e 1', 'x.js'],
  ['bash link.sh', 'b.sh'],
  ['awk -f a.awk', 'a.awk'],
  ['sed -nf a.awk a.awk', 'a.awk'],
  ['cd sub; cd deep; sh d.sh', 'sub/deep/d.sh'],
  ['(cd sub && ./run)', 'sub/run'],
  ["bash -c '. ./b.sh'", 'b.sh'],
  ['sub/linked', 'run'],
  ['BASH_ENV=b.sh make t', 'b.sh'],
  ["NODE_OPTIONS='--require ./x.js' vite build", 'x.js'],
  ['PYTHONPATH=sub python3 -c 1', 'sub/sitecustomize.py'],
  ['GIT_SSH_COMMAND=./run git fetch', 'run'],
  ['eval "$(cat b.sh)"', 'b.sh'],
  ['sh outer.sh', 'sub/inner.sh'],
  ['sh sub/beside.sh', 'sub/inner.sh'],
  ['sh b*.sh', 'b.sh'],
  ['for f in b.sh; do sh "$f"; done', 'b.sh'],
  ['X=b.sh; sh $X', 'b.sh'],
  ['bash -x b.sh', 'b.sh'],
  ['python3 sub/../x.py', 'x.py'],
  ['if true; then sh b.sh; fi', 'b.sh'],
  ['f() { sh b.sh; }; f', 'b.sh'],
  ['node --import=./x.js -e 1', 'x.js'],
  ['npx tsx x.js', 'x.js'],
  ['deno run x.js', 'x.js'],
  ['perl x.rb', 'x.rb'],
  ['sqlite3 a.db < b.sh', 'b.sh'],
  ['bun x.js', 'x.js'],
  ["trap './run' EXIT", 'run'],
  ['hash -p ./run ls; ls', 'run'],
  ['set -- ./run; "$@"', 'run'],
  ['PATH=.:$PATH run', 'run'],
  ['CC=./run make t', 'run'],
  ['RUBYOPT=-r./x.rb rake', 'x.rb'],
  ['sh enters.sh', 'sub/inner.sh'],
  ['sh sub/leaves.sh', 'sub/deep/d.sh'],
];

/** Commands whose scripts another program finds. */
const FOUND: readonly Scripted[] = [
  ['echo b.sh | xargs sh', 'b.sh'],
  ['find . -name b.sh -exec sh {} \\;', 'b.sh'],
  ['find . -maxdepth 1 -name "*.sh" -execdir bash {} +', 'b.sh'],
  ['xargs -n1 node < run', 'run'],
];

async function createScripts() {
  const names = [
    'b.sh',
    'run',
    'sub/run',
    'x.py',
    'x.js',
    'x.rb',
    'sub/c.sh',
    'sub/deep/d.sh',
    'a.awk',
    'Makefile',
    'sub/Makefile',
    'package.json',
    'sub/sitecustomize.py',
    'sub/inner.sh',
  ];
  const project = await createTempProject(Object.fromEntries(names.map((name) => [name, 'true\n'])));
  await project.write('outer.sh', 'bash sub/beside.sh\n');
  await project.write('enters.sh', 'cd sub && . ./inner.sh\n');
  await project.write('sub/leaves.sh', 'cd "$(dirname "$0")/deep" || exit\n. ./d.sh\n');
  await project.write('sub/beside.sh', '. "$(dirname "$0")/inner.sh"\n');
  await project.write('sub/linked', `#!${join(project.dir, 'run')}\n`);
  await symlink('b.sh', join(project.dir, 'link.sh'));
  return project;
}

test.each([...SCRIPTED, ...someOf([...LATER, ...FOUND], 9)])(
  '%s is asked about again when %s was changed meanwhile',
  async (command, file) => {
    await using project = await createScripts();
    let changes = 0;
    const change = async () => {
      changes += 1;
      if (changes === 1) await writeFile(join(project.dir, file), 'touch evil\n');
    };
    const { asked, verdict } = await ask(project, 'Bash', { command }, change);
    expect([asked.length, verdict.behavior]).toEqual([2, 'allow']);
  },
);

type Remembering = {
  readonly destination?: RememberDestination | undefined;
  readonly answeredScripts?: AnsweredScripts;
};

/** Opens a gate whose answers are remembered; returns how often it asks about a command. */
function createRememberingGate(
  project: TempProject,
  rules: string[] = [],
  { destination = 'session', answeredScripts }: Remembering = {},
) {
  let count = 0;
  const { home, dir: ws } = project;
  const gate = createPermissionGate({
    getPolicy: () => policyFor({ home, ws, outside: join(home, 'outside') }, { allow: rules }),
    fs: diskFs,
    getToolFacts,
    newId: () => 'id',
    onDecision: () => undefined,
    changeMode: () => undefined,
    ...(answeredScripts === undefined ? {} : { answeredScripts }),
    rememberRules: async (added) => void rules.push(...added),
    async askUser(request) {
      count += 1;
      const { command } = request.facts;
      return { behavior: 'allow', remember: { rules: [`Bash(${command})`], destination } };
    },
  });
  return async (command: string): Promise<number> => {
    count = 0;
    const request = { tool: 'Bash', callId: 'c', input: { command }, cwd: ws, title: 'x', isReadOnly: false };
    await gate(request, {}, new AbortController().signal);
    return count;
  };
}

test.each([...SCRIPTED.slice(0, 8), ...someOf(LATER, 7)])(
  'a remembered answer for %s does not cover a changed %s',
  async (command, file) => {
    await using project = await createScripts();
    const countQuestions = createRememberingGate(project);
    expect([await countQuestions(command), await countQuestions(command)]).toEqual([1, 0]);
    await writeFile(join(project.dir, file), 'touch evil\n');
    expect([await countQuestions(command), await countQuestions(command)]).toEqual([1, 0]);
  },
);

test.each(FOUND)('an answer for %s, which finds its scripts when it runs, is not remembered', async (command) => {
  await using project = await createScripts();
  const countQuestions = createRememberingGate(project);
  expect([await countQuestions(command), await countQuestions(command)]).toEqual([1, 1]);
});

test.each(SCRIPTED.slice(0, 4))(
  'a stored rule for %s covers a changed %s in no other session',
  async (command, file) => {
    await using project = await createScripts();
    const rules: string[] = [];
    const openSession = (destination: RememberDestination) => {
      const answeredScripts = createAnsweredScripts(project.ouroHome);
      return createRememberingGate(project, rules, { destination, answeredScripts });
    };
    expect(await openSession('local')(command)).toBe(1);
    expect(await openSession('local')(command)).toBe(0);
    await writeFile(join(project.dir, file), 'touch evil\n');
    const other = openSession('user');
    expect([await other(command), await other(command)]).toEqual([1, 0]);
    expect(await openSession('local')(command)).toBe(0);
  },
);

test('an answer for the session is known to its later gates, and to no other session', async () => {
  await using project = await createScripts();
  const rules: string[] = [];
  const answeredScripts = createAnsweredScripts(project.ouroHome);
  const openGate = () => createRememberingGate(project, rules, { answeredScripts });
  expect([await openGate()('sh b.sh'), await openGate()('sh b.sh')]).toEqual([1, 0]);
  await writeFile(join(project.dir, 'b.sh'), 'touch evil\n');
  expect([await openGate()('sh b.sh'), await openGate()('sh b.sh')]).toEqual([1, 0]);
  expect(await createAnsweredScripts(project.ouroHome).read()).toEqual(new Map());
});

const LOCAL = { rules: [], destination: 'local' } as const;

test('scripts that were deleted are forgotten, and a damaged file of answers stops nothing', async () => {
  await using project = await createScripts();
  const scripts = createAnsweredScripts(project.ouroHome);
  const [kept, gone] = [join(project.dir, 'b.sh'), join(project.dir, 'gone.sh')];
  await scripts.add(new Map([[gone, 'x']]), LOCAL);
  await scripts.add(new Map([[kept, 'y']]), LOCAL);
  expect(await scripts.read()).toEqual(new Map([[kept, 'y']]));
  await writeFile(join(project.ouroHome, 'answered-scripts.json'), '{');
  expect(await scripts.read()).toEqual(new Map());
  await scripts.add(new Map([[kept, 'z']]), LOCAL);
  expect(await scripts.read()).toEqual(new Map([[kept, 'z']]));
});

test('a question has the first lines of the scripts that it names, and no program that is no text', async () => {
  await using project = await createScripts();
  await project.write('b.sh', `#!/bin/sh\n${'true\n'.repeat(59)}`);
  await project.write('run', 'a\0b');
  const { asked } = await ask(project, 'Bash', { command: 'sh b.sh && ./run' }, async () => undefined);
  const lines = ['#!/bin/sh', ...Array.from({ length: 39 }, () => 'true')];
  expect(asked.map(({ scripts }) => scripts)).toEqual([[{ path: join(project.dir, 'b.sh'), lines, moreLines: 20 }]]);
});

test('files that a line works on are no scripts: a change of them asks nothing', async () => {
  await using project = await createScripts();
  await project.write('data.txt', 'a');
  for (const command of [
    'cat data.txt && sh b.sh',
    'npx eslint data.txt',
    'npm test data.txt',
    "node -e 'x[0]' && wc data.txt",
  ]) {
    const countQuestions = createRememberingGate(project);
    await countQuestions(command);
    await project.write('data.txt', command);
    expect([command, await countQuestions(command)]).toEqual([command, 0]);
  }
});
