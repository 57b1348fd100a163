import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { loginNow } from '../../../src/app/slash/key-commands.ts';
import { testCore } from '../../support/core.ts';
import { createTempProject } from '../../support/temp-project.ts';

test('a key that is stored in the middle of a session counts at once', async () => {
  await using project = await createTempProject();
  const core = await testCore(project);
  const before = core.model.find('groq/x');
  expect(before).toMatchObject({ ok: false, problem: expect.stringContaining('Groq needs a key') });
  const answer = await loginNow(core, 'groq', ' gsk_1\n');
  expect(answer).toMatchObject({
    ok: true,
    words: expect.stringMatching(/^The key of Groq is stored in .* \/model groq\/\S+ uses it\.$/),
  });
  expect(core.model.find('groq/x')).toEqual({ ok: true, model: 'groq/x' });
  expect(JSON.parse(await readFile(join(project.ouroHome, 'keys.json'), 'utf8'))).toEqual({ groq: 'gsk_1' });
});

test('what is no key is neither stored nor used', async () => {
  await using project = await createTempProject();
  const core = await testCore(project);
  expect(await loginNow(core, 'groq', 'two words')).toMatchObject({ ok: false });
  expect(core.model.find('groq/x').ok).toBe(false);
});
