import { mkdir } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { PLUGIN_MANIFEST_FILE, readPlugin } from '../../../src/extensions/plugins/read-plugin.ts';
import { createTempProject } from '../../support/temp-project.ts';

test('a manifest that is no regular file is the problem of the plugin, not an internal error', async () => {
  await using project = await createTempProject();
  const file = join(project.dir, PLUGIN_MANIFEST_FILE);
  await mkdir(file, { recursive: true });
  expect(await readPlugin(project.dir)).toEqual({
    ok: false,
    problem: `${file} cannot be read: it is not a regular file.`,
  });
});
