import { spawnSync } from 'node:child_process';
import { existsSync, lstatSync, mkdirSync, symlinkSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { expect, test } from 'vitest';
import type { JsonObject } from '../../src/contracts/json.ts';
import type { PermissionMode } from '../../src/contracts/permission.ts';
import { decide } from '../../src/permissions/decide.ts';
import { diskFs } from '../../src/permissions/permission-fs.ts';
import { createCallGuards } from '../../src/tools/call-guards.ts';
import { getToolFacts } from '../../src/tools/tool-traits.ts';
import { makeFixture, policyFor } from './fixture.ts';

/** A session in acceptEdits mode: returns the verdict about each call, and runs what is allowed. */
function startSession(allow: readonly string[] = [], fixture = makeFixture(), startedAt = 0) {
  const guards = createCallGuards(
    () => ({ all: {}, own: {} }),
    () => policyFor(fixture, { mode: 'acceptEdits', allow }),
    diskFs,
    startedAt,
  );
  const call = (tool: string, input: JsonObject, mode: PermissionMode = 'acceptEdits') => {
    const policy = { ...policyFor(fixture, { mode, allow }), isCreatedHere: guards.isCreatedHere };
    const decision = decide(getToolFacts(tool, input, policy.cwd), policy, diskFs);
    if (decision.verdict !== 'allow') return decision.verdict;
    const request = { tool, callId: 'x', input, cwd: policy.cwd, title: tool, isReadOnly: false };
    guards.record({ request, input, verdict: 'allow', by: 'decision', decision });
    const { command, file_path: path } = input;
    if (typeof command === 'string') spawnSync('/bin/bash', ['-c', command], { cwd: policy.cwd });
    if (typeof path === 'string') {
      mkdirSync(dirname(path), { recursive: true });
      writeFileSync(path, 'x');
    }
    return decision.verdict;
  };
  return { ...fixture, call, run: (command: string, mode?: PermissionMode) => call('Bash', { command }, mode) };
}

test('what the session made is deleted without a question in acceptEdits mode', () => {
  const { ws, call, run } = startSession();
  expect(call('Write', { file_path: join(ws, 'made/deep/new.ts'), content: 'x' })).toBe('allow');
  expect([run('rm -r made'), existsSync(join(ws, 'made'))]).toEqual(['allow', false]);
  const lines = [
    'mkdir -p out/deep && touch out/deep/a.ts out/b.ts',
    'touch one.ts',
    'cp README.md two.ts',
    'echo x > three.ts',
  ];
  expect(lines.map((line) => run(line))).toEqual(lines.map(() => 'allow'));
  expect(run('rm one.ts', 'default')).toBe('ask');
  const removals = ['rm one.ts', 'rm -f two.ts three.ts', 'rm -r out/deep/', 'rm -rf out'];
  expect(removals.map((line) => run(line))).toEqual(removals.map(() => 'allow'));
  expect(['one.ts', 'two.ts', 'three.ts', 'out'].filter((name) => existsSync(join(ws, name)))).toEqual([]);
});

test('nothing else is deleted without a question', () => {
  const { ws, run } = startSession(['Bash(mv:*)']);
  const prepared = [
    'mkdir -p made full moved',
    'touch made/a.ts full/a.ts',
    'cp README.md copy.ts',
    'touch gone.ts',
    'touch swapped.ts',
  ];
  expect(prepared.map((line) => run(line))).toEqual(prepared.map(() => 'allow'));
  writeFileSync(join(ws, 'full/notes.md'), 'of a person');
  expect(run('mv src/b.ts moved/b.ts')).toBe('allow');
  expect(run('mv src/a.ts src/z.ts')).toBe('allow');
  symlinkSync('../outside', join(ws, 'linked'));
  symlinkSync('made/a.ts', join(ws, 'to-made'));
  expect(run('rm gone.ts')).toBe('allow');
  run('touch two.ts');
  // Another program brings a file with that name.
  writeFileSync(join(ws, 'gone.ts'), 'of a person');
  const asked = [
    ...[
      'rm README.md',
      'rm -r src',
      'rm -r full',
      'rm -r moved',
      'rm moved/b.ts',
      'rm src/z.ts',
      'rm linked',
      'rm to-made',
      'rm gone.ts',
    ],
    ...[
      'rm -r .',
      'rm -rf ~',
      'rm -r made ../outside',
      'rm -r made src',
      'rm made/../README.md',
      'rm *',
      'rm made/* README.md',
      'rm -r */',
    ],
    ...['rm --no-preserve-root -r made', 'rm -i made/a.ts', 'rm $x', 'rm $(cat x)', 'rm linked/data', 'rm -r linked/'],
    ...[
      'mv README.md made/x.ts && rm -r made',
      'rm -r made; rm -r src',
      'sudo rm -r made',
      'find made -delete',
      'rm made/a.ts | sh',
      'unlink copy.ts',
    ],
    ...[
      'ln -sfn ../outside made/deep; rm -r made/*',
      'rm -r -- -x',
      'shred made/a.ts',
      'cd ../outside && rm data',
      'rm .git/config',
      'rm -rf made/ /',
    ],
  ];
  expect(asked.filter((line) => run(line) === 'allow')).toEqual([]);
});

test('a file from before the session that replaces one of it is not deleted', () => {
  const fixture = makeFixture();
  const { birthtimeMs: oldest } = lstatSync(join(fixture.ws, 'src/a.ts'));
  // As if the fixture were a minute older than the session, and what it creates as well.
  const { run } = startSession(['Bash(mv:*)'], fixture, oldest + 60_000);
  expect([run('touch new.ts'), run('mv src/a.ts new.ts')]).toEqual(['allow', 'allow']);
  expect(run('rm new.ts')).toBe(oldest === 0 ? 'allow' : 'ask');
});
