/** One file of a patch in the `*** Begin Patch` format. */
export type PatchedFile =
  | { readonly kind: 'add'; readonly path: string; readonly content: string }
  | { readonly kind: 'delete'; readonly path: string }
  | {
      readonly kind: 'update';
      readonly path: string;
      readonly movedTo: string | undefined;
      readonly hunks: readonly PatchHunk[];
    };

/** A replacement of lines. */
export type PatchHunk = { readonly oldText: string; readonly newText: string };

/** The files of a patch, or the reason why it is not one. */
export type ParsedPatch =
  | { readonly ok: true; readonly files: readonly PatchedFile[] }
  | { readonly ok: false; readonly problem: string };

const FILE_HEADER = /^\*\*\* (Add|Delete|Update) File: (.+)$/;
const MOVE_HEADER = /^\*\*\* Move to: (.+)$/;

/** Parses a patch: `*** Begin Patch`, then for each file its header and its lines, then `*** End Patch`. */
export function parsePatch(text: string): ParsedPatch {
  const lines = text.replaceAll('\r\n', '\n').split('\n');
  const start = lines.findIndex((line) => line.trim() === '*** Begin Patch');
  const end = lines.findLastIndex((line) => line.trim() === '*** End Patch');
  const body = lines.slice(start + 1, end === -1 ? lines.length : end);
  const firstHeader = body.findIndex((line) => FILE_HEADER.test(line.trim()));
  if (start === -1 || firstHeader === -1) return { ok: false, problem: 'It has no "*** Update File: path" line.' };
  const files: PatchedFile[] = [];
  for (let at = firstHeader; at < body.length; ) {
    const next = body.findIndex((line, index) => index > at && FILE_HEADER.test(line));
    const section = body.slice(at, next === -1 ? body.length : next);
    const file = parseFile(section);
    if (typeof file === 'string') return { ok: false, problem: file };
    files.push(file);
    at += section.length;
  }
  return { ok: true, files };
}

function parseFile([header = '', ...lines]: readonly string[]): PatchedFile | string {
  const [, action, written = ''] = FILE_HEADER.exec(header.trim()) ?? [];
  const path = written.trim();
  if (action === 'Delete') return { kind: 'delete', path };
  if (action === 'Add') {
    const added = dropTrailingBlanks(lines);
    const unmarked = added.find((line) => !line.startsWith('+'));
    if (unmarked !== undefined) return `Each line of the new file ${path} must begin with "+", not "${unmarked}".`;
    return { kind: 'add', path, content: added.map((line) => `${line.slice(1)}\n`).join('') };
  }
  const movedTo = MOVE_HEADER.exec(lines[0]?.trim() ?? '')?.[1]?.trim();
  const hunks = parseHunks(movedTo === undefined ? lines : lines.slice(1), path);
  if (typeof hunks === 'string') return hunks;
  if (hunks.length === 0 && movedTo === undefined) return `The part about ${path} has no lines with "-" or "+".`;
  return { kind: 'update', path, movedTo, hunks };
}

function parseHunks(lines: readonly string[], path: string): readonly PatchHunk[] | string {
  const hunks: PatchHunk[] = [];
  let heading = '';
  let oldLines: string[] = [];
  let newLines: string[] = [];
  const finish = () => {
    if (oldLines.join('\n') !== newLines.join('\n')) hunks.push(createHunk(oldLines, newLines, heading));
    oldLines = [];
    newLines = [];
  };
  for (const line of dropTrailingBlanks(lines)) {
    if (line.startsWith('@@')) {
      finish();
      heading = line.replace(/^@@ ?/, '').replace(/ ?@@$/, '');
    } else if (line.trim() === '*** End of File') continue;
    else if (line.startsWith('-')) oldLines.push(line.slice(1));
    else if (line.startsWith('+')) newLines.push(line.slice(1));
    else if (line.startsWith(' ') || line === '') {
      oldLines.push(line.slice(1));
      newLines.push(line.slice(1));
    } else return `A line about ${path} begins with none of " ", "-", "+" and "@@": "${line}".`;
  }
  finish();
  return hunks;
}

/** Creates a replacement; lines that are only added go behind the heading, the line that stands before them. */
function createHunk(oldLines: readonly string[], newLines: readonly string[], heading: string): PatchHunk {
  const isOnlyAdded = oldLines.length === 0 && heading !== '' && !/^-\d/.test(heading);
  const before = isOnlyAdded ? [heading] : oldLines;
  return { oldText: before.join('\n'), newText: (isOnlyAdded ? [heading, ...newLines] : newLines).join('\n') };
}

function dropTrailingBlanks(lines: readonly string[]): readonly string[] {
  return lines.slice(0, lines.findLastIndex((line) => line !== '') + 1);
}
