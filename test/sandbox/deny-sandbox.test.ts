import { spawnSync } from 'node:child_process';
import { mkdir, readdir, symlink, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import type { Policy } from '../../src/contracts/permission.ts';
import { parseRuleTexts } from '../../src/permissions/rules/parse-rule.ts';
import { createDenySandbox } from '../../src/sandbox/deny-sandbox.ts';
import { createPrivateTmp } from '../../src/sandbox/private-tmp.ts';
import { NO_SANDBOX } from '../support/sandbox.ts';
import { createTempFolder } from '../support/temp-folder.ts';
import { createTempProject, type TempProject } from '../support/temp-project.ts';

/** Ways to read `secrets/key` and `deep/er/x.pem`, which rules deny. Each prints what it finds. */
const READS = [
  ...[
    'ls secrets/* | xargs cat',
    'find . -type f -exec cat {} +',
    'grep -rh SECRET .',
    'cp -r secrets copy; cat copy/*',
  ],
  ...[
    'tar cf - . | tar xOf -',
    'ls secrets | while read f; do cat secrets/$f; done',
    'for f in s*/k*; do cat "$f"; done',
  ],
  ...[
    'cat s?crets/*',
    'cat $(printf "secr%s/key" ets)',
    'sh -c "cat sec*/*"',
    'ln secrets/key hard; cat hard',
    'cat link',
  ],
  // Later variants.
  ...['mv secrets moved; cat moved/key', 'mv deep moved; cat moved/er/x.pem', 'mv deep/er deep/re; cat deep/re/x.pem'],
  ...[
    'umount secrets; cat secrets/key',
    'unshare -rm umount secrets; unshare -rm cat secrets/key',
    'rm -r secrets; cat secrets/key',
  ],
  ...[
    'cat /proc/$PPID/root$PWD/secrets/key',
    'for p in /proc/[0-9]*; do cat $p/root$PWD/secrets/key $p/cwd/secrets/key; done',
  ],
  ...[
    'python3 -c "print(open(\'secrets/key\').read())"',
    'perl -pe "" secrets/key',
    'git diff --no-index /dev/null secrets/key',
  ],
  ...[
    'mount --bind . /mnt && cat /mnt/secrets/key',
    'dd if=secrets/key',
    'cd secrets && cat key',
    'cat "$PWD/../project/secrets/key"',
  ],
  ...[
    'cp -r . ../all && cat ../all/secrets/key ../all/deep/er/x.pem',
    'rsync -a secrets/ r/; cat r/key',
    'tail -n +1 */key */*/*.pem',
  ],
];

/** Ways to change `src/gen/a` or to put something else in its place. */
const WRITES = [
  ...[
    'cp -r x/. src',
    'ls x/gen | xargs -I{} cp x/gen/{} src/gen/{}',
    'echo EVIL > src/gen/a',
    'echo EVIL | tee src/gen/a',
  ],
  ...[
    'sed -i s/own/EVIL/ src/gen/a',
    'rm -r src/gen',
    'mv src/gen src/other',
    'mv src/gen/a src/b',
    'ln -f x/gen/a src/gen/a',
  ],
  // Later variants.
  ...[
    'mv src old; cp -r x src',
    'rm -rf src; mkdir -p src/gen; echo EVIL > src/gen/a',
    'ln src/gen/a h; echo EVIL > h',
  ],
  ...[
    'ln -s src/gen s; echo EVIL > s/a',
    'chmod 777 src/gen/a; echo EVIL > src/gen/a',
    'truncate -s 0 src/gen/a',
    'dd if=x/gen/a of=src/gen/a',
  ],
  ...[
    'touch src/gen/new',
    'umount src/gen; echo EVIL > src/gen/a',
    'mount -o remount,rw src/gen; echo EVIL > src/gen/a',
  ],
  ...[
    'tar cf - -C x gen | tar xf - -C src',
    "python3 -c \"open('src/gen/a', 'w')\"",
    'cd src/gen && echo EVIL > a',
    'mount --bind x/gen src/gen',
  ],
];

function createSandbox(project: TempProject, deny: readonly string[]) {
  const policy: Policy = {
    ...{ mode: 'default', workspaceRoots: [project.dir], cwd: project.dir, home: project.home, trusted: true },
    ...{ canBypass: false, sensitivePaths: [], searchPath: [], disk: 'case-sensitive', protectedPaths: [] },
    rules: parseRuleTexts(deny, 'deny', { source: 'flag', root: project.dir }),
  };
  const path = (process.env.PATH ?? '').split(':');
  return createDenySandbox({
    environment: { path },
    privateTmp: createPrivateTmp(Date.now, { parent: createTempFolder() }),
    getPolicy: () => policy,
    canEnforce: () => true,
    now: Date.now,
  });
}

function run(project: TempProject, deny: readonly string[], command: string): string {
  const wrap = createSandbox(project, deny).wrap(project.dir);
  const [file = '', ...args] = wrap?.(['/bin/bash', '--noprofile', '--norc', '-c', command]) ?? ['/bin/false'];
  const { stdout } = spawnSync(file, args, { cwd: project.dir, encoding: 'utf8' });
  return stdout;
}

async function createTarget(): Promise<TempProject> {
  const project = await createTempProject(
    { a: 'own\n', 'x/gen/a': 'EVIL\n', 'src/gen/a': 'own\n', 'src/b': 'own\n' },
    '/var/tmp',
  );
  await project.write('secrets/key', 'SECRET\n');
  await project.write('deep/er/x.pem', 'SECRET\n');
  await symlink('secrets/key', join(project.dir, 'link'));
  return project;
}

describe.skipIf(NO_SANDBOX !== undefined)(`deny rules in commands (${NO_SANDBOX ?? 'bubblewrap works here'})`, () => {
  test.each(READS)('denied files cannot be read: %s', async (attack) => {
    await using project = await createTarget();
    const printed = run(project, ['Read(secrets/**)', 'Read(*.pem)'], `( ${attack} ) 2>&1; cat a`);
    expect([printed.includes('SECRET'), printed.endsWith('own\n')]).toEqual([false, true]);
    // Nor by a later command, wherever the first one has put them.
    expect(run(project, ['Read(secrets/**)', 'Read(*.pem)'], 'grep -rs SECRET . ../all')).toBe('');
  });

  test.each(WRITES)('denied files cannot be changed: %s', async (attack) => {
    await using project = await createTarget();
    run(project, ['Edit(src/gen/**)'], `( ${attack} ) 2>&1`);
    expect(await project.read('src/gen/a')).toBe('own\n');
    expect(await readdir(join(project.dir, 'src/gen'))).toEqual(['a']);
  });

  test('everything else is as on the machine, but root sees no other processes', async () => {
    await using project = await createTarget();
    await mkdir(join(project.home, 'Documents'));
    await writeFile(join(project.home, 'Documents/x'), 'doc\n');
    const command = `echo 2 > made; cat made ${project.home}/Documents/x; kill -0 ${process.pid} && echo seen; id -u; echo x > /dev/null && echo dev`;
    const uid = process.getuid?.();
    expect(run(project, ['Read(secrets/**)'], command)).toBe(`2\ndoc\n${uid === 0 ? '' : 'seen\n'}${uid}\ndev\n`);
    expect(await project.read('made')).toBe('2\n');
  });

  test('files outside the workspace are kept from commands, too', async () => {
    await using project = await createTarget();
    await mkdir(join(project.home, 'vault/deep'), { recursive: true });
    await writeFile(join(project.home, 'vault/deep/x.kdbx'), 'SECRET\n');
    await writeFile(join(project.home, 'vault/readme'), 'own\n');
    expect(
      run(project, ['Read(~/vault/**/*.kdbx)'], 'cat ~/vault/deep/* ~/vault/readme'.replaceAll('~', project.home)),
    ).toBe('own\n');
  });

  test('without a rule on paths commands are not wrapped', async () => {
    await using project = await createTarget();
    expect(createSandbox(project, ['Bash(rm:*)', 'WebFetch']).wrap(project.dir)).toBeUndefined();
  });

  test('too many matches are covered by folder, or nothing runs', async () => {
    await using project = await createTarget();
    const fill = (folder: string) =>
      Promise.all([...Array(420).keys()].map((n) => project.write(join(folder, `${n}.pem`), 'SECRET')));
    await fill('many');
    expect(run(project, ['Read(*.pem)'], 'grep -rs SECRET --exclude-dir=secrets .; cat a')).toBe('own\n');
    await fill('.');
    expect(() => run(project, ['Read(*.pem)'], 'cat a')).toThrow('deny rules match');
  });
});
