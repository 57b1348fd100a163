import { lstatSync, readdirSync, readFileSync, readlinkSync } from 'node:fs';
import { mkdir, symlink, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { PROTECTED_IN_PROJECT } from '../../src/sandbox/protected-paths.ts';
import { PROTECTED_IN_GIT_DIR } from '../../src/sandbox/repositories/git-dirs.ts';
import { someOf } from '../support/runs.ts';
import { createTestSandbox, NO_SANDBOX } from '../support/sandbox.ts';
import { createTempProject } from '../support/temp-project.ts';

const NAMES = [
  ...[...PROTECTED_IN_PROJECT.folders, ...PROTECTED_IN_PROJECT.files],
  ...[...PROTECTED_IN_GIT_DIR.folders, ...PROTECTED_IN_GIT_DIR.files].flatMap((name) => [
    `.git/${name}`,
    `a/b/.git/${name}`,
  ]),
];

/** Ways to put something into a place, or something else in its place; `$n` is the place, `$e` a folder of the attacker's. */
const ATTEMPTS = [
  'echo x > $n',
  'echo x >> $n',
  'echo x > $n/x',
  'mkdir -p $n/sub && echo x > $n/sub/x',
  'rm -rf $n; echo x > $n',
  'rm -rf $n; mkdir -p $n; echo x > $n/x',
  'mv $n $e/old; cp -r $e/folder $n',
  'mv -T $e/f1 $n',
  'mv -T $e/d1 $n',
  'ln -sfn $e/folder $n',
  'ln -f $e/file $n',
  'cp -f $e/file $n',
  'cp -rT $e/folder $n',
  'install -D $e/file $n/x',
  'tar cf - -C $e/folder . | tar xf - -C $n',
  'dd if=$e/file of=$n',
  'truncate -s 3 $n',
  'chmod 777 $n; chmod -R 777 $n',
  'sed -i s/o/x/ $n',
  "perl -e 'rename $ARGV[0], $ARGV[1]; syscall(316, -100, $ARGV[0], -100, $ARGV[1], 2)' $e/f2 $n",
  'p=$(dirname $n); mv $p $p.moved; mkdir -p $p; echo x > $n',
  'mkfifo $n; touch -d 2001-01-01 $n',
  'git -c core.hooksPath=$n init -q $n',
  'mount --bind $e/folder $n; umount $n',
];

const STATES = ['missing', 'a file', 'a folder', 'a link', 'a link to nothing'] as const;

/** Of every three ways one, another for each place and state: all pairs are tried, and each state knows all ways. */
const THIRD = 3;

/** Everything below a folder, links as such, but for what the attacker was given. */
function everything(folder: string): readonly string[] {
  return readdirSync(folder, { recursive: true, encoding: 'utf8' })
    .filter((name) => !name.startsWith('attacker') && !name.includes('.replaced-'))
    .sort()
    .map((name) => {
      const entry = lstatSync(join(folder, name));
      if (entry.isSymbolicLink()) return `${name} -> ${readlinkSync(join(folder, name))}`;
      return entry.isFile()
        ? `${name}: ${readFileSync(join(folder, name), 'utf8')}`
        : `${name} (${entry.mode & 0o777})`;
    });
}

describe.skipIf(NO_SANDBOX !== undefined)(`protected paths (${NO_SANDBOX ?? 'bubblewrap works here'})`, () => {
  test.each(someOf(STATES, 2))(
    'no kind of write changes a path that is %s',
    async (state) => {
      const head = 'ref: refs/heads/main\n';
      await using project = await createTempProject({
        ...{ '.git/HEAD': head, 'a/b/.git/HEAD': head, 'kept/file': 'kept', 'kept/folder/file': 'kept' },
        ...{ 'attacker/file': 'evil', 'attacker/folder/x': 'evil' },
      });
      const names = someOf(NAMES);
      for (const [at, name] of names.entries()) {
        const path = join(project.dir, name);
        await mkdir(dirname(path), { recursive: true });
        if (state === 'a file') await writeFile(path, 'own');
        if (state === 'a folder') await mkdir(path);
        if (state === 'a link') await symlink(join(project.dir, at % 2 === 0 ? 'kept/file' : 'kept/folder'), path);
        if (state === 'a link to nothing') await symlink(join(project.dir, `kept/none${at}`), path);
      }
      const before = everything(project.dir);
      const { run, sandbox } = await createTestSandbox(project);
      const tries = names.flatMap((name, at) => {
        const attempts = ATTEMPTS.filter((_, index) => (index + at + STATES.indexOf(state)) % THIRD === 0);
        const fresh = 'cp -r attacker/folder $e/d1; cp attacker/file $e/f1; cp attacker/file $e/f2';
        return [`n=$PWD/${name}`, ...attempts.map((attempt) => `(${fresh}; { ${attempt}; })`)];
      });
      await run(`IFS=; exec >/dev/null 2>&1; e=$PWD/attacker\n${tries.join('\n')}`);
      sandbox.close();
      expect(everything(project.dir)).toEqual(before);
    },
    240_000,
  );
});
