import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { openRequestedView } from '../../../src/ui/effects/run-and-show-slash-command.ts';
import { createTempProject } from '../../support/temp-project.ts';
import { effectHost } from './test-host.ts';

test('an edited file gets the saved changes, beside changes by others', async () => {
  await using project = await createTempProject({ 'CLAUDE.md': 'one\ntwo\nthree\n' });
  const path = join(project.dir, 'CLAUDE.md');
  const editing = async (saved: string | undefined, meanwhile?: string) => {
    const host = effectHost();
    const editFile = async () => {
      if (meanwhile !== undefined) await writeFile(path, meanwhile);
      return saved;
    };
    await openRequestedView('edit_file', path, { ...host, editFile });
    return [await readFile(path, 'utf8'), host.reported()];
  };
  expect(await editing(undefined)).toEqual(['one\ntwo\nthree\n', undefined]);
  expect(await editing('ONE\ntwo\nthree\n')).toEqual(['ONE\ntwo\nthree\n', `${path} was saved.`]);
  expect(await editing('ONE\ntwo\n3\n', 'ONE!\ntwo\nthree\n')).toEqual(['ONE!\ntwo\n3\n', `${path} was saved.`]);
  const [kept, reported] = await editing('mine\ntwo\n3\n', 'theirs\ntwo\n3\n');
  expect([kept, reported]).toEqual(['theirs\ntwo\n3\n', expect.stringContaining('CLAUDE.md.yours')]);
  expect(await readFile(`${path}.yours`, 'utf8')).toBe('mine\ntwo\n3\n');
});
