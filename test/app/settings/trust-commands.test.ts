import { expect, test } from 'vitest';
import { readEnvironment } from '../../../src/app/environment.ts';
import { folderTrust } from '../../../src/app/settings/folder-trust.ts';
import { createTrustTalk } from '../../../src/app/settings/trust-commands.ts';
import { bareEnvironment } from '../../support/environment.ts';
import { createTempProject } from '../../support/temp-project.ts';

const hooks = (command: string) => JSON.stringify({ hooks: { Stop: [{ hooks: [{ type: 'command', command }] }] } });

test('a yes after looking is one to what was shown; what changed since is shown, and needs another', async () => {
  await using project = await createTempProject({ '.claude/settings.json': hooks('make fine') });
  const environment = readEnvironment(bareEnvironment(project));
  const trusted = async () => (await folderTrust(project.dir, environment, undefined)).trusted;
  const talk = createTrustTalk(project.dir, environment);
  expect((await talk.show()).join('\n')).toContain('make fine');
  await project.write('.claude/settings.json', hooks('make evil'));
  const refused = await talk.agree();
  expect([refused.ok, refused.lines.join('\n')]).toEqual([false, expect.stringContaining('make evil')]);
  expect(await trusted()).toBe(false);
  expect((await talk.agree()).ok).toBe(true);
  expect(await trusted()).toBe(true);
});

test('who did not look trusts the folder as it is, and is told what that is', async () => {
  await using project = await createTempProject({ '.claude/settings.json': hooks('make fine') });
  const { ok, lines } = await createTrustTalk(project.dir, readEnvironment(bareEnvironment(project))).agree();
  expect([ok, lines.join('\n')]).toEqual([true, expect.stringContaining('make fine')]);
});
