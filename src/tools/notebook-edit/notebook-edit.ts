import { randomBytes } from 'node:crypto';
import { z } from 'zod';
import type { ToolStatement } from '../../contracts/permission.ts';
import { type Tool, ToolFailure } from '../../contracts/tool.ts';
import { decodeText, encodeText } from '../../lib/files/encoding.ts';
import { buildTool } from '../build-tool.ts';
import { absolutePath } from '../file-arguments.ts';
import { type ChangeParts, changeFile, readForChange } from '../file-change.ts';
import { originalForHosts, showChange } from '../file-diff.ts';
import { pathFacts } from '../stated-facts.ts';
import type { CellEdit } from './splice-cell.ts';

const NOTEBOOK_EDIT_PROMPT = `Changes one cell of a notebook (.ipynb) that was read in this session: replaces its source, inserts a new cell after cell_id (at the start without one), or deletes it. cell_id is the id Read shows.`;

const input = z.object({
  notebook_path: z.string().min(1),
  cell_id: z.string().optional(),
  new_source: z.string(),
  cell_type: z.enum(['code', 'markdown']).optional().describe('Needed to insert'),
  edit_mode: z.enum(['replace', 'insert', 'delete']).optional().describe('Default replace'),
});

/** What it says of itself to those who decide about its calls. */
export const notebookEditStatement: ToolStatement = {
  name: 'NotebookEdit',
  facts: pathFacts('edit', 'notebook_path'),
  mainInput: 'notebook_path',
  served: 'changes',
};

/** Changes one cell of a notebook and nothing else in it. */
export function createNotebookEditTool(parts: ChangeParts): Tool {
  return buildTool({
    ...notebookEditStatement,
    prompt: NOTEBOOK_EDIT_PROMPT,
    input,
    isReadOnly: () => false,
    isConcurrencySafe: () => false,
    title: ({ notebook_path }) => `Edit ${notebook_path}`,
    async call(wanted, { cwd, signal }) {
      const file = absolutePath(wanted.notebook_path, { cwd, home: parts.home });
      if (!file.endsWith('.ipynb')) throw new ToolFailure(`${file} is not a notebook (.ipynb). Use Edit.`);
      const edit = toCellEdit(wanted);
      const { bytes } = await readForChange(file, parts, signal);
      const before = decodeText(bytes);
      if (before === undefined) throw new ToolFailure(`${file} is binary; it cannot be edited as a notebook.`);
      // The parser is loaded with the first notebook, not at start.
      const { spliceCell } = await import('./splice-cell.ts');
      const text = spliceCell(before.text, edit);
      const encoded = encodeText(text, before);
      if (!encoded.ok) throw new ToolFailure(`${file} is ${before.encoding} and cannot hold “${encoded.character}”.`);
      signal.throwIfAborted();
      await changeFile(file, encoded.bytes, parts);
      const change = await showChange(file, before.text, text);
      return {
        content: describe(edit, file),
        display: change.display,
        structured: {
          notebook_path: file,
          cell_id: edit.mode === 'insert' ? edit.newId : edit.cellId,
          new_source: wanted.new_source,
          edit_mode: edit.mode,
          structuredPatch: change.structuredPatch,
          original_file: originalForHosts(before.text),
        },
      };
    },
  });
}

function toCellEdit(wanted: z.output<typeof input>): CellEdit {
  const { cell_id, new_source, cell_type } = wanted;
  if (wanted.edit_mode === 'insert') {
    if (cell_type === undefined) throw new ToolFailure('To insert a cell, say its cell_type: code or markdown.');
    return {
      mode: 'insert',
      after: cell_id,
      source: new_source,
      cellType: cell_type,
      newId: randomBytes(4).toString('hex'),
    };
  }
  if (cell_id === undefined) throw new ToolFailure('Say which cell: give the cell_id that Read shows.');
  if (wanted.edit_mode === 'delete') return { mode: 'delete', cellId: cell_id };
  return { mode: 'replace', cellId: cell_id, source: new_source, cellType: cell_type };
}

function describe(edit: CellEdit, file: string): string {
  if (edit.mode === 'insert') return `Inserted cell ${edit.newId} in ${file}.`;
  return `${edit.mode === 'delete' ? 'Deleted' : 'Replaced'} cell ${edit.cellId} of ${file}.`;
}
