import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import type { JsonObject } from '../../src/contracts/json.ts';
import { previewEdit } from '../../src/tools/preview-edit.ts';
import { proposeEdit } from '../../src/tools/propose-edit.ts';
import { createTempProject } from '../support/temp-project.ts';

const LINES = Array.from({ length: 40 }, (_, at) => (at % 10 === 0 ? 'same' : `line ${at}`));
const TEXT = `${LINES.join('\n')}\n`;

test('a proposed edit is the whole file, and what is saved of it is what its input leads to', async () => {
  await using project = await createTempProject({ 'a.txt': TEXT, 'crlf.txt': 'one\r\ntwo\r\n' });
  const place = { cwd: project.dir, home: project.dir };
  const facts = (input: JsonObject) => ({ tool: 'Edit', kind: 'edit' as const, input });
  const signal = new AbortController().signal;
  const leadsTo = async (input: JsonObject, saved: string) => {
    const proposal = await proposeEdit(facts(input), place);
    const changed = proposal?.inputFor(saved);
    if (changed === undefined) return undefined;
    // A second look at the changed input proposes exactly what was saved.
    return { changed, text: (await proposeEdit(facts(changed), place))?.text };
  };

  const edit = { file_path: 'a.txt', old_string: 'line 5', new_string: 'line five' };
  const proposal = await proposeEdit(facts(edit), place);
  expect(proposal?.text).toBe(TEXT.replace('line 5', 'line five'));
  const saved = TEXT.replace('line 5', 'line V').replace('line 35', 'line XXXV');
  const led = await leadsTo(edit, saved);
  expect(led?.text).toBe(saved);
  const small = await leadsTo(edit, TEXT.replace('line 25', 'line 25!'));
  expect(String(small?.changed.old_string).split('\n')).toHaveLength(8);
  expect((await leadsTo(edit, `${TEXT}at the end`))?.text).toBe(`${TEXT}at the end`);
  expect(await leadsTo(edit, TEXT)).toBeUndefined();

  const write = { file_path: 'a.txt', content: 'all new' };
  expect(await leadsTo(write, 'other')).toEqual({ changed: { ...write, content: 'other' }, text: 'other' });
  const several = { file_path: 'a.txt', edits: [{ old_string: 'line 5', new_string: '5' }] };
  expect((await leadsTo(several, saved))?.text).toBe(saved);
  const fresh = { file_path: 'new.txt', old_string: '', new_string: 'hello' };
  expect(await leadsTo(fresh, 'hello you')).toEqual({
    changed: { ...fresh, new_string: 'hello you' },
    text: 'hello you',
  });
  const windows = { file_path: 'crlf.txt', old_string: 'two', new_string: 'zwei' };
  expect((await leadsTo(windows, 'one\r\ndrei\r\n'))?.text).toBe('one\r\ndrei\r\n');

  expect(await proposeEdit(facts({ notebook_path: 'x' }), place)).toBeUndefined();
  expect(await previewEdit(facts(edit), place, signal)).toMatchObject({ kind: 'diff' });
  expect(await readFile(join(project.dir, 'a.txt'), 'utf8')).toBe(TEXT);
});
