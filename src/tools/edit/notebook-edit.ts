import { randomBytes } from 'node:crypto';
import { z } from 'zod';
import { type Tool, ToolFailure } from '../../contracts/tool.ts';
import { decodeText, encodeText } from '../../lib/files/text-encoding.ts';
import { buildTool } from '../definition/build-tool.ts';
import {
  changeFilesExclusively,
  type FileChangeDeps,
  readFileToReplace,
  writeAndRecordFile,
} from '../files/change-file.ts';
import { diffFile, getOldTextForHosts } from '../files/diff-file.ts';
import { type BuiltInToolTraits, defineToolTraits, FILE_PATH_SYNONYMS } from '../input/call-forms.ts';
import { createPathToolFacts, resolveToolPath } from '../tool-facts.ts';

import { catchToolFailureMessage } from './edit-file.ts';
import type { NotebookCellEdit } from './edit-notebook-cell.ts';

const NOTEBOOK_EDIT_PROMPT = `Changes one cell of a notebook (.ipynb) that was read in this session: replaces its source, inserts a new cell after cell_id (at the start without one), or deletes it. cell_id is the id Read shows.`;

const input = z.strictObject({
  notebook_path: z.string().min(1),
  cell_id: z.string().optional(),
  new_source: z.string(),
  cell_type: z.enum(['code', 'markdown']).optional().describe('Needed to insert'),
  edit_mode: z.enum(['replace', 'insert', 'delete']).optional().describe('Default replace'),
});

/** The traits of the NotebookEdit tool. */
export const notebookEditTraits: BuiltInToolTraits = defineToolTraits({
  name: 'NotebookEdit',
  facts: createPathToolFacts('edit', 'notebook_path'),
  mainInput: 'notebook_path',
  served: 'changes',
  forms: {
    example: 'NotebookEdit{notebook_path:"a.ipynb", cell_id:"3f2a", new_source:"print(1)"}',
    names: ['edit_notebook', 'edit_notebook_file', 'edit_notebook_cell'],
    synonyms: {
      notebook_path: [...FILE_PATH_SYNONYMS, 'file_path', 'target_notebook'],
      cell_id: ['cell', 'id'],
      new_source: ['source', 'content', 'code', 'new_string', 'new_code', 'text'],
      cell_type: ['type', 'cell_language'],
      edit_mode: ['mode', 'edit_type', 'operation', 'action'],
    },
    conversions: {
      new_source: (value) => ({ set: { new_source: Array.isArray(value) ? value.join('') : value } }),
    },
    ignored: ['explanation'],
  },
});

/** Creates the tool that edits the cells of a notebook. */
export function createNotebookEditTool(deps: FileChangeDeps): Tool {
  return buildTool({
    ...notebookEditTraits,
    prompt: NOTEBOOK_EDIT_PROMPT,
    deferred: true,
    input,
    isReadOnly: () => false,
    prepareArguments: (raw) => (raw.edit_mode === 'delete' ? { new_source: '', ...raw } : raw),
    isConcurrencySafe: () => false,
    title: ({ notebook_path }) => `Edit ${notebook_path}`,
    checkPreconditions: (cellInput, { cwd, signal }) =>
      catchToolFailureMessage(
        planCellEdit(resolveToolPath(cellInput.notebook_path, { cwd, home: deps.home }), cellInput, deps, signal),
      ),
    async call(cellInput, { cwd, signal }) {
      const file = resolveToolPath(cellInput.notebook_path, { cwd, home: deps.home });
      const { edit, before, text, method } = await changeFilesExclusively([file], deps, signal, async () => {
        const { bytes, expected, ...planned } = await planCellEdit(file, cellInput, deps, signal);
        signal.throwIfAborted();
        return { ...planned, method: await writeAndRecordFile(file, bytes, deps, { expected, knowledge: 'seen' }) };
      });
      const change = await diffFile(file, before.text, text);
      return {
        content: `${describeEdit(edit, file)}${method}`,
        display: change.display,
        structured: {
          notebook_path: file,
          cell_id: edit.mode === 'insert' ? edit.newId : edit.cellId,
          new_source: cellInput.new_source,
          edit_mode: edit.mode,
          structuredPatch: change.structuredPatch,
          original_file: getOldTextForHosts(before.text),
        },
      };
    },
  });
}

/** Applies a cell edit in memory. Throws a `ToolFailure` if it does not apply. */
async function planCellEdit(
  file: string,
  cellInput: z.output<typeof input>,
  deps: FileChangeDeps,
  signal: AbortSignal,
) {
  if (!file.endsWith('.ipynb')) throw new ToolFailure(`${file} is not a notebook (.ipynb). Use Edit.`);
  const edit = toCellEdit(cellInput);
  const current = await readFileToReplace(file, deps, signal);
  const before = decodeText(current.bytes);
  if (before === undefined) throw new ToolFailure(`${file} is binary; it cannot be edited as a notebook.`);
  // The parser is loaded with the first notebook, not at startup.
  const { editNotebookCell } = await import('./edit-notebook-cell.ts');
  const text = editNotebookCell(before.text, edit);
  const encoded = encodeText(text, before);
  if (!encoded.ok) throw new ToolFailure(`${file} is ${before.encoding} and cannot hold “${encoded.character}”.`);
  return { edit, before, text, bytes: encoded.bytes, expected: current.diskBytes };
}

function toCellEdit({ cell_id, new_source, cell_type, edit_mode }: z.output<typeof input>): NotebookCellEdit {
  if (edit_mode !== 'insert' && cell_id === undefined)
    throw new ToolFailure('Say which cell: give the cell_id that Read shows.');
  if (edit_mode === 'delete' && cell_id !== undefined) return { mode: 'delete', cellId: cell_id };
  if (edit_mode !== 'insert' && cell_id !== undefined)
    return { mode: 'replace', cellId: cell_id, source: new_source, cellType: cell_type };
  if (cell_type === undefined) throw new ToolFailure('To insert a cell, say its cell_type: code or markdown.');
  return {
    mode: 'insert',
    after: cell_id,
    source: new_source,
    cellType: cell_type,
    newId: randomBytes(4).toString('hex'),
  };
}

function describeEdit(edit: NotebookCellEdit, file: string): string {
  if (edit.mode === 'insert') return `Inserted cell ${edit.newId} in ${file}.`;
  return `${edit.mode === 'delete' ? 'Deleted' : 'Replaced'} cell ${edit.cellId} of ${file}.`;
}
