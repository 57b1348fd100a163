import { mkdir, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { readEnvironment } from '../../../src/app/environment.ts';
import { storedKey, storeKey } from '../../../src/model/keys/stored-key.ts';
import { bareEnvironment } from '../../support/environment.ts';
import { createTempProject } from '../../support/temp-project.ts';

test('a pasted key is found at the next start, beside whatever else the file holds', async () => {
  await using project = await createTempProject();
  const environment = readEnvironment(bareEnvironment(project));
  expect(await storedKey(environment)).toEqual({});
  await mkdir(project.ouroHome);
  await writeFile(join(project.ouroHome, 'keys.json'), '{"other":"k"}');
  await storeKey(project.ouroHome, ' sk-ant-1\n');
  expect(await storedKey(environment)).toEqual({ apiKey: 'sk-ant-1' });
  expect(JSON.parse(await readFile(join(project.ouroHome, 'keys.json'), 'utf8'))).toMatchObject({ other: 'k' });
});

test.each(['{"anthropic":', '', '{"anthropic":7}', '{"v":2}'])('a file that says %j is told', async (text) => {
  await using project = await createTempProject();
  await mkdir(project.ouroHome);
  await writeFile(join(project.ouroHome, 'keys.json'), text);
  expect(await storedKey(readEnvironment(bareEnvironment(project)))).toEqual({
    problem: expect.stringMatching(/keys\.json .*Move it away and paste the key again\.$/),
  });
});
