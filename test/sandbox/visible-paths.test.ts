import { chmod, mkdir, symlink, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { createTestReadOnlySandbox } from '../support/read-only-sandbox.ts';
import { createTestSandbox, NO_SANDBOX } from '../support/sandbox.ts';
import { createTempProject, type TempProject } from '../support/temp-project.ts';

/** Secrets in entries of a home folder without a dot, and in folders that only look like toolchains. */
const PLANTED = [
  ...[
    'projects/other/.env',
    'projects/other/config/prod.key',
    'Documents/taxes.txt',
    'Desktop/passwords.txt',
    'id_rsa',
  ],
  ...['backup.tar', 'Dropbox/keys.kdbx', 'Downloads/invoice', 'notes.md', 'Mail/inbox', 'mbox', 'Nextcloud/diary'],
  ...[
    'dotfiles/ssh/id_rsa',
    'vault/secret',
    'src/app/.env',
    'work/client/terraform.tfstate',
    'wallet.dat',
    'a b/ü.txt',
  ],
  // Later variants: folders of programs with something else inside or beside them.
  ...[
    'go/src/client/.env',
    'projects/tools/.env',
    'projects/tools/Makefile',
    'projects/tools/lib/notes',
    'Library/Mail/x',
    'Library/Application Support/x',
  ],
  ...[
    'snap/app/common/.env',
    'VirtualBox VMs/x',
    'Android/notes',
    'bin/.env',
    'miniconda3/credentials',
    'public_html/x',
  ],
];
/** Neighbours of the home folder and of the workspace. */
const OUTSIDE = ['../neighbour/notes', '../project-2/.env', '../.env', '../home2/projects/x'];

async function plant(project: TempProject, names: readonly string[], text = 'PLANTED\n'): Promise<void> {
  for (const name of names) {
    const path = join(project.home, name);
    await mkdir(dirname(path), { recursive: true });
    await writeFile(path, text);
  }
}

async function plantProgram(project: TempProject, name: string, text: string): Promise<void> {
  await plant(project, [name], text);
  await chmod(join(project.home, name), 0o755);
}

const SANDBOXES = ['read-only', 'writable'] as const;

async function runIn(kind: (typeof SANDBOXES)[number], project: TempProject, command: string, path = '') {
  const env: Readonly<Record<string, string>> = path === '' ? {} : { PATH: path };
  if (kind === 'read-only') return (await createTestReadOnlySandbox(project, { env }).run(command)).printed;
  const { run, sandbox } = await createTestSandbox(project, { env });
  const printed = await run(`exec 2>&1; ${command}`);
  sandbox.close();
  return printed;
}

describe.skipIf(NO_SANDBOX !== undefined)(`what sandboxes show (${NO_SANDBOX ?? 'bubblewrap works here'})`, () => {
  test.each(SANDBOXES)(
    'in the %s one, nothing of the home folder but toolchains, and nothing beside it',
    async (kind) => {
      await using project = await createTempProject({ a: 'own\n' }, '/var/tmp');
      await plant(project, [...PLANTED, ...OUTSIDE]);
      await plant(project, ['go/bin/x', 'go/pkg/mod/x', 'projects/tools/bin/x'], 'GO\n');
      const path = `${project.home}/go/bin:${project.home}/projects/tools/bin:${process.env.PATH}`;
      const targets = [...PLANTED, ...OUTSIDE].map((name) => `'${join(project.home, name)}'`).join(' ');
      const attack = [
        `cat ${targets}`,
        'grep -rs PLANTED ~ ../ /var/tmp',
        'cd ~ && find . -type f -exec cat {} +',
        `find / -xdev -name taxes.txt`,
        `ls -d ~/projects/other ~/Documents ~/Library/* '${dirname(project.home)}/neighbour'`,
      ].join('; ');
      // A folder of scripts inside a project is on PATH, and its project stays hidden.
      expect(await runIn(kind, project, `( ${attack} ) 2>/dev/null; cat a ~/go/pkg/mod/x`, path)).toMatch(
        /^(?:GO\n)*own\nGO\n$/,
      );
    },
  );

  test('in a folder that is not there, writing fails instead of seeming to succeed', async () => {
    await using project = await createTempProject({}, '/var/tmp');
    await plant(project, ['Documents/x']);
    for (const kind of SANDBOXES)
      for (const target of ['~/made', '~/Documents/made', '/made', '/srv/made', '/home/made'])
        expect([target, await runIn(kind, project, `( echo x > ${target} ) 2>/dev/null; echo $?`)]).toEqual([
          target,
          expect.stringMatching(/^1\n/),
        ]);
  });

  test.each(SANDBOXES)('in the %s one, programs run whose files are elsewhere', async (kind) => {
    await using project = await createTempProject({}, '/var/tmp');
    await plantProgram(
      project,
      'apps/tool-1/bin/tool',
      '#!/bin/sh\ncat "$(dirname "$(readlink -f "$0")")/../lib/data"\n',
    );
    await plant(project, ['apps/tool-1/lib/data'], 'tool\n');
    await symlink('tool-1', join(project.home, 'apps/current'));
    await plantProgram(project, 'interpreters/lang/bin/lang', '#!/bin/sh\ncat "$(dirname "$0")/../lib/data"\n');
    await plant(project, ['interpreters/lang/lib/data'], 'lang\n');
    await plantProgram(project, '.local/bin/script', `#!${project.home}/interpreters/lang/bin/lang\n`);
    await symlink('../../apps/current/bin/tool', join(project.home, '.local/bin/tool'));
    await plantProgram(project, 'single/alone', '#!/bin/sh\necho alone\n');
    await symlink('../../single/alone', join(project.home, '.local/bin/alone'));
    await plant(project, ['single/secret', 'apps/secret', 'interpreters/secret']);
    await plantProgram(project, 'vendor/kit/bin/kit', '#!/bin/sh\ncat "$(dirname "$0")/../share/data"\n');
    await plant(project, ['vendor/kit/share/data'], 'kit\n');
    const path = `${project.home}/.local/bin:${project.home}/vendor/kit/bin:/usr/bin:/bin`;
    const command = 'tool; script; alone; kit; cat ~/single/secret ~/apps/secret ~/interpreters/secret 2>/dev/null';
    expect(await runIn(kind, project, command, path)).toBe('tool\nlang\nalone\nkit\n');
  });

  test.each(SANDBOXES)('in the %s one, links of the home folder lead where they lead outside', async (kind) => {
    await using project = await createTempProject({ a: 'own\n' }, '/var/tmp');
    await plant(project, ['dotfiles/gitconfig'], '[user]\n\tname = me\n');
    await symlink('dotfiles/gitconfig', join(project.home, '.gitconfig'));
    await plant(project, ['../disk/cargo/registry/x'], 'cargo\n');
    await symlink('../disk/cargo', join(project.home, '.cargo'));
    // Neither a link to the home folder nor one to all of the disk opens them.
    await plant(project, ['Documents/x', 'dotfiles/secret']);
    await symlink('.', join(project.home, '.rustup'));
    await symlink('/', join(project.home, '.nvm'));
    await symlink('..', join(project.home, '.bun'));
    const seen = 'git config user.name; cat ~/.cargo/registry/x';
    const hidden = `cat ~/Documents/x ~/.rustup/Documents/x ~/.nvm${project.home}/Documents/x ~/.bun/home/Documents/x ~/dotfiles/secret`;
    expect(await runIn(kind, project, `${seen}; ( ${hidden} ) 2>/dev/null`)).toBe('me\ncargo\n');
  });

  test('what only the system may read is hidden, the rest of its configuration is not', async () => {
    await using project = await createTempProject({}, '/var/tmp');
    const attack =
      'cat /etc/shadow /etc/gshadow /etc/sudoers /etc/ssh/ssh_host_*_key; ls -A /etc/ssl/private /etc/sudoers.d';
    for (const kind of SANDBOXES)
      expect(
        await runIn(kind, project, `( ${attack} ) 2>/dev/null | grep -v ^/ | grep .; grep -c ^root: /etc/passwd`),
      ).toBe('1\n');
  });

  test('added folders and those of allow rules are shown', async () => {
    await using project = await createTempProject({ a: 'own\n' }, '/var/tmp');
    await plant(project, ['more/x', 'named/x', 'named/deep/y', 'unnamed/x'], 'seen\n');
    const { run } = createTestReadOnlySandbox(project, {
      roots: [project.dir, join(project.home, 'more')],
      allow: ['Read(~/named/**)'],
    });
    expect((await run('cat ~/more/x ~/named/x ~/named/deep/y; cat ~/unnamed/x 2>/dev/null')).printed).toBe(
      'seen\nseen\nseen\n',
    );
  });
});
