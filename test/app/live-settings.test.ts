import { rm, utimes } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { readEnvironment } from '../../src/app/environment.ts';
import { openLiveSettings } from '../../src/app/live-settings.ts';
import { loadFolderTrust } from '../../src/app/trust/folder-trust.ts';
import { bareEnvironment } from '../support/environment.ts';
import { runOptions } from '../support/run-options.ts';
import { createTempProject } from '../support/temp-project.ts';

const FILE = '.claude/settings.json';

test('an untrusted folder may add restrictions during a session and cannot remove them', async () => {
  const first = { permissions: { deny: ['Read(a)'], ask: ['Bash(x)'] } };
  await using project = await createTempProject({ [FILE]: JSON.stringify(first) });
  const environment = readEnvironment(bareEnvironment(project, 'http://127.0.0.1:9'));
  const { settings } = await openLiveSettings({
    given: runOptions({ cwd: project.dir }),
    environment,
    cwd: project.dir,
    trust: await loadFolderTrust(project.dir, environment, undefined),
    emit: async () => undefined,
    canReadExtension: () => (realPath) => ({ ok: true, realPath }),
  });
  let seconds = 0;
  const rules = async (permissions: object | undefined) => {
    seconds += 10;
    if (permissions === undefined) await rm(join(project.dir, FILE));
    else {
      await project.write(FILE, JSON.stringify({ permissions }));
      await utimes(join(project.dir, FILE), seconds, seconds);
    }
    await settings.refresh();
    const merged = settings.current();
    return [merged.permissions?.deny?.toSorted(), merged.permissions?.ask, merged.permissions?.allow];
  };
  const both = [['Read(a)', 'Read(b)'], ['Bash(x)'], undefined];
  expect(await rules({ deny: ['Read(b)'], allow: ['Bash(y)'] })).toEqual(both);
  expect(await rules({})).toEqual(both);
  expect(await rules(undefined)).toEqual(both);
  expect(await rules({ deny: ['Read(c)'] })).toEqual([['Read(a)', 'Read(b)', 'Read(c)'], ['Bash(x)'], undefined]);
});
