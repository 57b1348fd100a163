import { chmodSync, existsSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { createTestSandbox, NO_SANDBOX } from '../support/sandbox.ts';
import { createTempProject } from '../support/temp-project.ts';

const isRoot = process.getuid?.() === 0;

describe.skipIf(NO_SANDBOX !== undefined || isRoot)('folders that the user has locked', () => {
  test('commands run in a read-only project, and cannot unlock it to write what is protected', async () => {
    await using project = await createTempProject({ a: 'alpha\n' });
    await project.initGit();
    chmodSync(project.dir, 0o500);
    const { run } = await createTestSandbox(project);
    expect(await run('cat a; git log --format=%s; { chmod 700 . && mkdir .claude; } 2>/dev/null; echo over')).toBe(
      'alpha\nStart\nover\n',
    );
    chmodSync(project.dir, 0o700);
    expect(existsSync(join(project.dir, '.claude'))).toBe(false);
  });

  test('a read-only repository is read', async () => {
    await using project = await createTempProject({ a: 'alpha\n' });
    await project.initGit();
    chmodSync(join(project.dir, '.git'), 0o500);
    const { run } = await createTestSandbox(project);
    const attempt = 'cd .git; { chmod 700 . && mkdir modules; } 2>/dev/null; cd ..';
    expect(await run(`git log --format=%s; ${attempt}; echo b >> a; cat a`)).toBe('Start\nalpha\nb\n');
    expect(existsSync(join(project.dir, '.git/modules'))).toBe(false);
  });
});
