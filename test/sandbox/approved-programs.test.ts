import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { decide } from '../../src/permissions/decide.ts';
import { diskFs } from '../../src/permissions/permission-fs.ts';
import { getToolFacts } from '../../src/tools/tool-traits.ts';
import { policyFor } from '../permissions/fixture.ts';
import { createTestSandbox, NO_SANDBOX } from '../support/sandbox.ts';
import { createTempProject } from '../support/temp-project.ts';

const FILES = { 'hooks/deep/check.sh': 'echo good\n', 'other.sh': 'echo evil\n' };

describe.skipIf(NO_SANDBOX !== undefined)('in a sandbox', () => {
  test.each([
    'echo evil > hooks/deep/check.sh',
    'cp other.sh hooks/deep/check.sh',
    'mv other.sh hooks/deep/check.sh',
    'rm -f hooks/deep/check.sh; cp other.sh hooks/deep/check.sh',
    'mv hooks/deep hooks/old; mkdir hooks/deep; cp other.sh hooks/deep/check.sh',
    'mv hooks old; mkdir -p hooks/deep; cp other.sh hooks/deep/check.sh',
    'ln -sf ../../other.sh hooks/deep/check.sh',
    'ln other.sh hooks/deep/x; mv -f hooks/deep/x hooks/deep/check.sh',
    'sed -i s/good/evil/ hooks/deep/check.sh',
    'truncate -s 0 hooks/deep/check.sh; cat other.sh >> hooks/deep/check.sh',
    'exec 7<>hooks/deep/check.sh; echo evil >&7',
    'umount hooks/deep/check.sh; cp other.sh hooks/deep/check.sh',
  ])('an approved program stays as it is after: %s', async (command) => {
    await using project = await createTempProject(FILES);
    const frozen = join(project.dir, 'hooks/deep/check.sh');
    const { run } = await createTestSandbox(project, { frozen: [frozen] });
    await run(command);
    expect(await readFile(frozen, 'utf8')).toBe('echo good\n');
  });
});

test.each([
  ['Write', (file: string) => ({ file_path: file, content: 'echo evil\n' })],
  ['Edit', (file: string) => ({ file_path: file, old_string: 'good', new_string: 'evil' })],
  ['Bash', () => ({ command: 'cp other.sh hooks/deep/check.sh' })],
  ['Bash', () => ({ command: 'mv other.sh hooks/deep/check.sh' })],
  ['Bash', () => ({ command: 'echo evil > hooks/deep/check.sh' })],
])('in acceptEdits mode %s asks before it changes an approved program', async (tool, createInput) => {
  await using project = await createTempProject(FILES);
  const { home, dir: ws } = project;
  const file = join(ws, 'hooks/deep/check.sh');
  const policy = { ...policyFor({ home, ws, outside: join(home, 'outside') }), mode: 'acceptEdits' } as const;
  const facts = getToolFacts(tool, createInput(file), ws);
  const verdicts = [policy, { ...policy, frozenPaths: [file] }].map((given) => decide(facts, given, diskFs).verdict);
  expect(verdicts).toEqual(['allow', 'ask']);
});
