import { execFileSync } from 'node:child_process';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { readFileOrPipe, readRegularFile, readRegularFileSync } from '../../../src/lib/files/read-regular-file.ts';
import { createTempProject, type TempProject } from '../../support/temp-project.ts';

let project: TempProject;
beforeAll(async () => {
  project = await createTempProject({ 'a.txt': 'alpha' });
  execFileSync('mkfifo', [`${project.dir}/pipe`]);
});
afterAll(() => project.remove());

test.each(['pipe', '/dev/zero', '.'])('%s is refused at once, because it could be read for ever', async (name) => {
  const path = name.startsWith('/') ? name : `${project.dir}/${name}`;
  expect(() => readRegularFileSync(path)).toThrow('it is not a regular file');
  await expect(readRegularFile(path)).rejects.toThrow('it is not a regular file');
  await expect(readFileOrPipe(path)).rejects.toThrow('it is not a regular file');
});

test('files are read, those of the kernel too, and a missing one keeps its error code', () => {
  expect(readRegularFileSync(`${project.dir}/a.txt`).toString()).toBe('alpha');
  expect(readRegularFileSync('/proc/self/status').toString()).toContain('Pid:');
  expect(() => readRegularFileSync(`${project.dir}/none`)).toThrow(expect.objectContaining({ code: 'ENOENT' }));
});
