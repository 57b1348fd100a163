import { chmod, lstat, readdir, readFile, stat, symlink } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { copyPlugin } from '../../../src/extensions/plugins/plugin-files.ts';
import { createTempProject } from '../../support/temp-project.ts';

test('links inside a plugin are replaced by their targets, and executables stay executable', async () => {
  await using project = await createTempProject({
    'market/kit/bin/pip': 'program',
    'market/kit/.git/HEAD': 'ref',
    'market/shared/words.txt': 'words',
  });
  const at = (name: string) => join(project.dir, name);
  await chmod(at('market/kit/bin/pip'), 0o755);
  await symlink('pip', at('market/kit/bin/pip3'));
  await symlink('../shared', at('market/kit/shared'));
  await copyPlugin(at('market/kit'), at('copy'), at('market'));
  expect((await readdir(at('copy'), { recursive: true })).toSorted()).toEqual([
    'bin',
    'bin/pip',
    'bin/pip3',
    'shared',
    'shared/words.txt',
  ]);
  expect(await readFile(at('copy/shared/words.txt'), 'utf8')).toBe('words');
  expect((await lstat(at('copy/bin/pip3'))).isSymbolicLink()).toBe(false);
  expect((await stat(at('copy/bin/pip3'))).mode & 0o777).toBe(0o755);
});

test.each([
  ['out', '/etc/hostname', 'out is a link to a path outside'],
  ['up', '../../secret.txt', 'up is a link to a path outside'],
  ['near', '../../market-of-another/x.txt', 'near is a link to a path outside'],
  ['round', '..', 'round is a link to its own parent folder.'],
  ['gone', 'nothing', 'gone is a broken link.'],
])('the link %s to %s is refused', async (name, to, words) => {
  await using project = await createTempProject({
    'market/kit/a.txt': 'a',
    'secret.txt': 'secret',
    'market-of-another/x.txt': 'x',
  });
  const at = (path: string) => join(project.dir, path);
  await symlink(name === 'round' ? '../kit' : to, at(`market/kit/${name}`));
  await expect(copyPlugin(at('market/kit'), at('copy'), at('market'))).rejects.toThrow(words);
});
