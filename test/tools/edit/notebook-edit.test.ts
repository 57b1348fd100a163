import { readFile, writeFile } from 'node:fs/promises';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { editNotebookCell } from '../../../src/tools/edit/edit-notebook-cell.ts';
import { createNotebookEditTool } from '../../../src/tools/edit/notebook-edit.ts';
import { createReadTool } from '../../../src/tools/read/read.ts';
import { callTool, createWorkbench } from '../file-workbench.ts';

let bench: Awaited<ReturnType<typeof createWorkbench>>;
beforeAll(async () => {
  bench = await createWorkbench();
});
afterAll(() => bench.remove());

// Odd on purpose: an escape, a number, key order and blanks that a rewrite would lose.
const pretty = `{
 "nbformat": 4,   "nbformat_minor": 5,
 "cells": [
  {
   "cell_type": "code",
   "id": "one",
   "execution_count": 1.0,
   "metadata": {"z": 1,  "a": "\\u00e9"},
   "outputs": [],
   "source": [
    "a = 1\\n",
    "b = 2"
   ]
  },
  {
   "cell_type": "markdown",
   "id": "two",
   "metadata": {},
   "source": "# Hi"
  }
 ]
}
`;

describe('spliceCell', () => {
  test('a replaced source keeps its form, and all other bytes', () => {
    expect(editNotebookCell(pretty, { mode: 'replace', cellId: 'one', source: 'x\ny\nz' })).toBe(
      pretty.replace('"a = 1\\n",\n    "b = 2"', '"x\\n",\n    "y\\n",\n    "z"'),
    );
    expect(editNotebookCell(pretty, { mode: 'replace', cellId: 'cell-1', source: '# "Ho"' })).toBe(
      pretty.replace('"# Hi"', '"# \\"Ho\\""'),
    );
  });
  test('a cell is inserted after another or at the start, formatted like its neighbours', () => {
    const cell = { mode: 'insert', source: 'n\nm', cellType: 'markdown', newId: 'new' } as const;
    const json =
      '{\n   "cell_type": "markdown",\n   "id": "new",\n   "metadata": {},\n   "source": [\n    "n\\n",\n    "m"\n   ]\n  }';
    expect(editNotebookCell(pretty, { ...cell, after: 'two' })).toBe(
      pretty.replace('# Hi"\n  }', `# Hi"\n  },\n  ${json}`),
    );
    expect(editNotebookCell(pretty, cell)).toBe(pretty.replace('[\n  {', `[\n  ${json},\n  {`));
  });
  test('deleting every cell leaves an empty list', () => {
    const one = editNotebookCell(pretty, { mode: 'delete', cellId: 'two' });
    expect(one).toBe(`${pretty.slice(0, pretty.indexOf(',\n  {\n   "cell_type": "markdown"'))}\n ]\n}\n`);
    expect(JSON.parse(editNotebookCell(one, { mode: 'delete', cellId: 'one' })).cells).toEqual([]);
  });
  test('a notebook on one line stays on one line', () => {
    const flat = JSON.stringify({ cells: [{ cell_type: 'code', source: ['a'] }], nbformat: 4, nbformat_minor: 2 });
    const edited = editNotebookCell(flat, {
      mode: 'insert',
      after: 'cell-0',
      source: 'b',
      cellType: 'code',
      newId: 'x',
    });
    expect(edited).not.toContain('\n');
    expect(JSON.parse(edited).cells[1]).toEqual({
      cell_type: 'code',
      execution_count: null,
      metadata: {},
      outputs: [],
      source: ['b'],
    });
    expect(editNotebookCell(flat, { mode: 'replace', cellId: 'cell-0', source: 'c' })).toBe(
      flat.replace('["a"]', '["c"]'),
    );
  });
  test('an unknown cell is answered with the existing ones', () => {
    expect(() => editNotebookCell(pretty, { mode: 'delete', cellId: 'three' })).toThrow('The cells are: one, two.');
    expect(() => editNotebookCell('[]', { mode: 'delete', cellId: 'a' })).toThrow('not a notebook');
  });
});

test('a notebook is edited like any file: read first, written atomically', async () => {
  const edit = (input: Record<string, string>) =>
    callTool(createNotebookEditTool(bench), { notebook_path: 'n.ipynb', new_source: '', ...input }, bench);
  await writeFile(bench.at('n.ipynb'), pretty);
  await expect(edit({ cell_id: 'two' })).rejects.toThrow('Read it first');
  await callTool(createReadTool(bench), { file_path: 'n.ipynb' }, bench);
  const outcome = await edit({ cell_id: 'two', new_source: '# Ho' });
  expect(outcome).toMatchObject({ display: { kind: 'diff', added: 1, removed: 1 } });
  expect(await readFile(bench.at('n.ipynb'), 'utf8')).toBe(pretty.replace('# Hi', '# Ho'));
  await expect(edit({ edit_mode: 'insert' })).rejects.toThrow('cell_type');
  await expect(edit({})).rejects.toThrow('which cell');
});
