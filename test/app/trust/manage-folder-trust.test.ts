import { expect, test } from 'vitest';
import { readEnvironment } from '../../../src/app/environment.ts';
import { loadFolderTrust } from '../../../src/app/trust/folder-trust.ts';
import { createTrustDialog } from '../../../src/app/trust/manage-folder-trust.ts';
import { bareEnvironment } from '../../support/environment.ts';
import { createTempProject } from '../../support/temp-project.ts';

const hooks = (command: string) => JSON.stringify({ hooks: { Stop: [{ hooks: [{ type: 'command', command }] }] } });

test('approval after viewing applies to the shown version; later changes are shown and need another', async () => {
  await using project = await createTempProject({ '.claude/settings.json': hooks('make fine') });
  const environment = readEnvironment(bareEnvironment(project));
  const trusted = async () => (await loadFolderTrust(project.dir, environment, undefined)).isTrusted;
  const talk = createTrustDialog(project.dir, environment);
  expect((await talk.show()).join('\n')).toContain('make fine');
  await project.write('.claude/settings.json', hooks('make evil'));
  const refused = await talk.agree();
  expect([refused.ok, refused.lines.join('\n')]).toEqual([false, expect.stringContaining('make evil')]);
  expect(await trusted()).toBe(false);
  expect((await talk.agree()).ok).toBe(true);
  expect(await trusted()).toBe(true);
});

test('without viewing, the folder is trusted as it is, and its content is reported', async () => {
  await using project = await createTempProject({ '.claude/settings.json': hooks('make fine') });
  const { ok, lines } = await createTrustDialog(project.dir, readEnvironment(bareEnvironment(project))).agree();
  expect([ok, lines.join('\n')]).toEqual([true, expect.stringContaining('make fine')]);
});
