import { expect, test } from 'vitest';
import { readEnvironment } from '../../src/app/environment.ts';
import { makePolicy } from '../../src/app/make-policy.ts';
import type { Settings } from '../../src/contracts/settings.ts';
import { decide } from '../../src/permissions/decide.ts';
import { factsOf } from '../../src/permissions/facts.ts';
import { diskFs } from '../../src/permissions/fs.ts';
import { createTempProject, type TempProject } from '../support/temp-project.ts';

/** What is said to a command in the folder `sub`, with this PATH of the user and of the settings. */
function verdictOf({ dir, home }: TempProject, command: string, path: string, settings: Settings = {}) {
  const source = makePolicy({
    options: { addDirs: [] },
    environment: readEnvironment({ HOME: home, PATH: path }),
    cwd: dir,
    trusted: true,
    loaded: () => ({ layers: [], merged: settings, problems: [] }),
    live: () => ({ mode: 'default', grants: [], directories: [] }),
    mayBypass: 'may not bypass',
  });
  const cwd = `${dir}/sub`;
  return decide(factsOf('Bash', { command }, cwd), source.policy(cwd), diskFs).verdict;
}

test('a program that PATH finds in the workspace asks, however PATH leads there', async () => {
  await using project = await createTempProject({ 'sub/ls': '#!/bin/sh\n', 'sub/bin/cat': '#!/bin/sh\n' });
  expect(verdictOf(project, 'ls', '/usr/bin:/bin')).toBe('allow');
  for (const path of ['.:/usr/bin', ':/usr/bin', '/usr/bin:', `${project.dir}/sub:/usr/bin`])
    expect([path, verdictOf(project, 'ls', path)]).toEqual([path, 'ask']);
  const settings = { env: { PATH: 'bin:/usr/bin' } };
  expect(verdictOf(project, 'cat ls', '/usr/bin:/bin', settings)).toBe('ask');
  expect(verdictOf(project, 'ls', '/usr/bin:/bin', settings)).toBe('allow');
});
