import { pathToFileURL } from 'node:url';
import { z } from 'zod';
import type { JsonValue } from '../contracts/json.ts';
import { parseFileUri } from '../lib/files/file-uri.ts';
import { readRegularFile } from '../lib/files/read-regular-file.ts';
import type { FileLineEdits } from '../tools/edit/file-line-edits.ts';
import { openInLanguageServer } from './language-query.ts';
import type { LanguageServers } from './language-server-manager.ts';

/** A name at a position, counted from 1, and its new name. */
export type SymbolRenameRequest = {
  readonly path: string;
  readonly line: number;
  readonly character: number;
  readonly newName: string;
};

const MAX_FILES = 200;

/** Asks the server of a file for the changes of a rename; throws when there are none, or they are not text alone. */
export async function findSymbolRenameChanges(
  languages: LanguageServers,
  { path, line, character, newName }: SymbolRenameRequest,
  signal: AbortSignal,
): Promise<readonly FileLineEdits[]> {
  await languages.syncWithDisk();
  const server = await openInLanguageServer(languages, path);
  const result = await server.request(
    'textDocument/rename',
    {
      textDocument: { uri: pathToFileURL(path).href },
      position: { line: line - 1, character: character - 1 },
      newName,
    },
    signal,
  );
  const edits = [...parseWorkspaceEdit(result)].filter(([, ofFile]) => ofFile.length > 0);
  if (edits.length === 0) throw new Error('there is no name to rename at this position');
  if (edits.length > MAX_FILES)
    throw new Error(`the rename changes ${edits.length} files, and at most ${MAX_FILES} are`);
  return Promise.all(edits.map(([file, ofFile]) => toLineChanges(file, ofFile)));
}

const position = z.object({ line: z.int().nonnegative(), character: z.int().nonnegative() });
const textEdit = z.object({ range: z.object({ start: position, end: position }), newText: z.string() });
const textEdits = z.array(textEdit);
const workspaceEdit = z.object({
  changes: z.record(z.string(), textEdits).nullish(),
  documentChanges: z
    .array(
      z.union([
        z.object({ textDocument: z.object({ uri: z.string() }), edits: textEdits }),
        z.object({ kind: z.string() }),
      ]),
    )
    .nullish(),
});

type ServerEdit = z.output<typeof textEdit>;

/** Parses the edits by file. */
function parseWorkspaceEdit(value: JsonValue): ReadonlyMap<string, readonly ServerEdit[]> {
  const edits = new Map<string, readonly ServerEdit[]>();
  const parsed = workspaceEdit.nullable().safeParse(value);
  if (!parsed.success) throw new Error('its answer is not a list of changes');
  const { changes, documentChanges } = parsed.data ?? {};
  const listed =
    documentChanges ?? Object.entries(changes ?? {}).map(([uri, of]) => ({ textDocument: { uri }, edits: of }));
  for (const change of listed) {
    if ('kind' in change) throw new Error('the rename also renames, creates or deletes files');
    const path = parseFileUri(change.textDocument.uri);
    if (path === undefined) throw new Error(`${change.textDocument.uri} is not a local file`);
    edits.set(path, [...(edits.get(path) ?? []), ...change.edits]);
  }
  return edits;
}

/** Converts the edits of a server to replaced lines. */
async function toLineChanges(file: string, edits: readonly ServerEdit[]): Promise<FileLineEdits> {
  const text = await readRegularFile(file);
  if (text === undefined) throw new Error(`${file} does not exist`);
  // Without the byte order mark, which the tools keep.
  const lines = text.replace(/^\uFEFF/, '').split('\n');
  const groups: { first: number; last: number; edits: ServerEdit[] }[] = [];
  for (const edit of edits.toSorted((a, b) => comparePositions(a.range.start, b.range.start))) {
    const { start, end } = edit.range;
    if (end.line >= lines.length || comparePositions(start, end) > 0) throw new Error(`${file} has changed`);
    const group = groups.at(-1);
    const previous = group?.edits.at(-1)?.range.end;
    if (previous !== undefined && comparePositions(previous, start) > 0) throw new Error('its changes overlap');
    if (group !== undefined && start.line <= group.last) {
      group.edits.push(edit);
      group.last = Math.max(group.last, end.line);
    } else {
      groups.push({ first: start.line, last: end.line, edits: [edit] });
    }
  }
  return {
    file_path: file,
    edits: groups.map(({ first, last, edits: ofGroup }) => {
      const old = lines.slice(first, last + 1);
      return { line: first + 1, old_string: old.join('\n'), new_string: replaceRanges(old, first, ofGroup) };
    }),
  };
}

const comparePositions = (a: z.output<typeof position>, b: z.output<typeof position>) =>
  a.line - b.line || a.character - b.character;

/** Replaces ranges of lines, from the last to the first. */
function replaceRanges(lines: readonly string[], firstLine: number, edits: readonly ServerEdit[]): string {
  const text = lines.join('\n');
  const starts = [0];
  for (const line of lines) starts.push((starts.at(-1) ?? 0) + line.length + 1);
  const toOffset = ({ line, character }: z.output<typeof position>) => {
    const index = line - firstLine;
    return (starts[index] ?? text.length) + Math.min(character, lines[index]?.length ?? 0);
  };
  return edits
    .toReversed()
    .reduce(
      (current, { range, newText }) =>
        current.slice(0, toOffset(range.start)) + newText + current.slice(toOffset(range.end)),
      text,
    );
}
