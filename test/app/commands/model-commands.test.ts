import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { saveAndUseProviderKey } from '../../../src/app/commands/model-commands.ts';
import { testCore } from '../../support/core.ts';
import { createTempProject } from '../../support/temp-project.ts';

test('a key stored during a session takes effect at once', async () => {
  await using project = await createTempProject();
  const core = await testCore(project);
  const before = core.model.findModel('groq/x');
  expect(before).toMatchObject({ ok: false, problem: expect.stringContaining('Groq needs an API key') });
  const answer = await saveAndUseProviderKey(core, 'groq', ' gsk_1\n');
  expect(answer).toMatchObject({
    ok: true,
    message: expect.stringMatching(/^The Groq key is stored in .* Use it with \/model groq\/\S+\.$/),
  });
  expect(core.model.findModel('groq/x')).toEqual({ ok: true, model: 'groq/x' });
  expect(JSON.parse(await readFile(join(project.ouroHome, 'keys.json'), 'utf8'))).toEqual({ groq: 'gsk_1' });
});

test('an invalid key is neither stored nor used', async () => {
  await using project = await createTempProject();
  const core = await testCore(project);
  expect(await saveAndUseProviderKey(core, 'groq', 'two words')).toMatchObject({ ok: false });
  expect(core.model.findModel('groq/x').ok).toBe(false);
});
