import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import type { JsonObject } from '../../../src/contracts/json.ts';
import { previewEdit, proposeEdit } from '../../../src/tools/edit/preview-edit.ts';
import { createTempProject } from '../../support/temp-project.ts';

const LINES = Array.from({ length: 40 }, (_, at) => (at % 10 === 0 ? 'same' : `line ${at}`));
const TEXT = `${LINES.join('\n')}\n`;

test('a proposed edit is the whole file, and its saved content is converted back to an input', async () => {
  await using project = await createTempProject({ 'a.txt': TEXT, 'crlf.txt': 'one\r\ntwo\r\n' });
  const place = { cwd: project.dir, home: project.dir };
  const facts = (input: JsonObject) => ({ tool: 'Edit', kind: 'edit' as const, input });
  const signal = new AbortController().signal;
  const leadsTo = async (input: JsonObject, saved: string) => {
    const proposal = await proposeEdit(facts(input), place);
    const changed = proposal?.createInput(saved);
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

test('the parts of several edits are the edits, also where they touch; a refused one is omitted', async () => {
  await using project = await createTempProject({ 'a.txt': 'one\ntwo\nthree\ntwo\n' });
  const edits = [
    { old_string: 'one', new_string: 'ONE' },
    { old_string: 'two', new_string: 'TWO', replace_all: true },
    { old_string: 'TWO\nthree', new_string: 'TWO\nTHREE' },
    { old_string: 'ONE', new_string: 'uno' },
  ];
  const facts = { tool: 'MultiEdit', kind: 'edit', input: { file_path: 'a.txt', edits } } as const;
  const proposal = await proposeEdit(facts, { cwd: project.dir, home: project.dir });
  const changed = proposal?.hunks.map(({ lines }) =>
    lines.filter(({ kind }) => kind !== 'same').map(({ kind, text }) => `${kind} ${text}`),
  );
  expect(changed).toEqual([
    ['del one', 'add ONE'],
    ['del two', 'add TWO', 'del two', 'add TWO'],
    ['del three', 'add THREE'],
    ['del ONE', 'add uno'],
  ]);
  expect([[], [0], [1], [2], [3], [0, 1, 2, 3]].map((refused) => proposal?.withoutHunks(refused))).toEqual([
    'uno\nTWO\nTHREE\nTWO\n',
    // The last edit needs the text of the first one.
    'one\nTWO\nTHREE\nTWO\n',
    'uno\ntwo\nthree\ntwo\n',
    'uno\nTWO\nthree\nTWO\n',
    'ONE\nTWO\nTHREE\nTWO\n',
    'one\ntwo\nthree\ntwo\n',
  ]);
});
