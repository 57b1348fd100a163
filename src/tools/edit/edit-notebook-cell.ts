import { type Node, parseTree } from 'jsonc-parser';
import { ToolFailure } from '../../contracts/tool.ts';

type CellType = 'code' | 'markdown' | 'raw';

/** A change of one notebook cell. */
export type NotebookCellEdit =
  | { readonly mode: 'replace'; readonly cellId: string; readonly source: string; readonly cellType?: CellType }
  | {
      readonly mode: 'insert';
      readonly after?: string;
      readonly source: string;
      readonly cellType: CellType;
      readonly newId: string;
    }
  | { readonly mode: 'delete'; readonly cellId: string };

/** Changes one cell in the text of a notebook; all other characters stay unchanged. */
export function editNotebookCell(text: string, edit: NotebookCellEdit): string {
  const root = parseTree(text);
  const cells = root === undefined ? undefined : getProperty(root, 'cells');
  if (root === undefined || cells?.type !== 'array') {
    throw new ToolFailure('This is not a notebook: it has no list of cells. Use Edit for other files.');
  }
  switch (edit.mode) {
    case 'replace':
      return replaceCell(text, findCell(cells, edit.cellId), edit);
    case 'delete':
      return deleteCell(text, cells, findCell(cells, edit.cellId));
    case 'insert':
      return insertCell(text, { root, cells }, edit);
  }
}

function replaceCell(text: string, cell: Node, edit: NotebookCellEdit & { mode: 'replace' }): string {
  const source = getProperty(cell, 'source');
  if (source === undefined) throw new ToolFailure(`The cell "${edit.cellId}" has no source. Read the notebook again.`);
  const type = getProperty(cell, 'cell_type');
  const next = sourceJson(text, edit.source, { isList: source.type === 'array', offset: source.offset });
  const changes = [{ node: source, json: next }];
  if (edit.cellType !== undefined && type !== undefined && type.value !== edit.cellType) {
    if (type.value === 'code' || edit.cellType === 'code') {
      throw new ToolFailure('A cell cannot be turned into or from code in place. Delete it and insert a new one.');
    }
    changes.push({ node: type, json: JSON.stringify(edit.cellType) });
  }
  changes.sort((a, b) => b.node.offset - a.node.offset);
  return changes.reduce((out, { node, json }) => out.slice(0, node.offset) + json + out.slice(getEnd(node)), text);
}

function deleteCell(text: string, cells: Node, cell: Node): string {
  const all = cells.children ?? [];
  const index = all.indexOf(cell);
  const before = all[index - 1];
  const after = all[index + 1];
  // The comma and whitespace on one side are removed too; without the last cell an empty list remains.
  if (before !== undefined) return text.slice(0, getEnd(before)) + text.slice(getEnd(cell));
  if (after !== undefined) return text.slice(0, cell.offset) + text.slice(after.offset);
  return `${text.slice(0, cells.offset)}[]${text.slice(getEnd(cells))}`;
}

function insertCell(
  text: string,
  nodes: { root: Node; cells: Node },
  edit: NotebookCellEdit & { mode: 'insert' },
): string {
  const { root, cells } = nodes;
  const all = cells.children ?? [];
  const previous = edit.after === undefined ? undefined : findCell(cells, edit.after);
  const neighbour = previous ?? all[0];
  const isPretty = text.slice(cells.offset, neighbour?.offset ?? getEnd(root)).includes('\n');
  const newline = text.includes('\r\n') ? '\r\n' : '\n';
  const outer = isPretty ? newline + getIndent(text, neighbour?.offset ?? cells.offset) : '';
  // Cells are indented one step deeper than their list.
  const step = detectIndentStep(text);
  const lead = neighbour === undefined && isPretty ? outer + step : outer;
  const cell = cellJson(edit, getIdMode(root), isPretty ? { lead, step } : undefined);
  if (previous !== undefined) return `${text.slice(0, getEnd(previous))},${lead}${cell}${text.slice(getEnd(previous))}`;
  if (neighbour !== undefined)
    return `${text.slice(0, neighbour.offset)}${cell},${lead}${text.slice(neighbour.offset)}`;
  return `${text.slice(0, cells.offset)}[${lead}${cell}${outer}]${text.slice(getEnd(cells))}`;
}

function cellJson(
  edit: NotebookCellEdit & { mode: 'insert' },
  idMode: 'with_ids' | 'without_ids',
  style: { readonly lead: string; readonly step: string } | undefined,
): string {
  const cell = {
    cell_type: edit.cellType,
    ...(edit.cellType === 'code' ? { execution_count: null } : {}),
    ...(idMode === 'with_ids' ? { id: edit.newId } : {}),
    metadata: {},
    ...(edit.cellType === 'code' ? { outputs: [] } : {}),
    source: sourceLines(edit.source),
  };
  return style === undefined
    ? JSON.stringify(cell)
    : JSON.stringify(cell, null, style.step).replaceAll('\n', style.lead);
}

/** Returns the source as JSON in its present form: one string, or a list of lines indented like the file. */
function sourceJson(text: string, source: string, old: { readonly isList: boolean; readonly offset: number }): string {
  if (!old.isList) return JSON.stringify(source);
  const lines = sourceLines(source).map((line) => JSON.stringify(line));
  const isPretty = text.includes('\n', text.indexOf('{')) && text.slice(0, old.offset).includes('\n');
  if (!isPretty || lines.length === 0) return `[${lines.join(', ')}]`;
  const lead = (text.includes('\r\n') ? '\r\n' : '\n') + getIndent(text, old.offset);
  return `[${lead}${detectIndentStep(text)}${lines.join(`,${lead}${detectIndentStep(text)}`)}${lead}]`;
}

function sourceLines(source: string): readonly string[] {
  return source === '' ? [] : source.split(/(?<=\n)/);
}

function findCell(cells: Node, id: string): Node {
  const all = cells.children ?? [];
  const byId = all.find((cell) => getProperty(cell, 'id')?.value === id);
  const index = /^cell-(\d+)$/.exec(id)?.[1];
  const found = byId ?? (index === undefined ? undefined : all[Number(index)]);
  if (found !== undefined) return found;
  const ids = all.slice(0, 20).map((cell, position) => String(getProperty(cell, 'id')?.value ?? `cell-${position}`));
  throw new ToolFailure(`There is no cell "${id}". The cells are: ${ids.join(', ')}${all.length > 20 ? ', …' : ''}.`);
}

/** Tells whether cells have ids, as they do since format 4.5. */
function getIdMode(root: Node): 'with_ids' | 'without_ids' {
  const major = Number(getProperty(root, 'nbformat')?.value ?? 4);
  const minor = Number(getProperty(root, 'nbformat_minor')?.value ?? 0);
  return major > 4 || (major === 4 && minor >= 5) ? 'with_ids' : 'without_ids';
}

function getProperty(object: Node, key: string): Node | undefined {
  return object.children?.find((property) => property.children?.[0]?.value === key)?.children?.[1];
}

function getEnd(node: Node): number {
  return node.offset + node.length;
}

function getIndent(text: string, offset: number): string {
  const start = text.lastIndexOf('\n', offset - 1) + 1;
  return /^[ \t]*/.exec(text.slice(start, offset))?.[0] ?? '';
}

function detectIndentStep(text: string): string {
  return /\n([ \t]+)"/.exec(text)?.[1] ?? ' ';
}
