import type { DiffHunk, DiffLine, Display } from '../../../contracts/display.ts';
import { isJsonObject, type JsonObject, type JsonValue } from '../../../contracts/json.ts';
import { escapeCodeLine } from '../../../lib/text/sanitize.ts';
import type { RowTextRange } from '../../../lib/text/text-wrap.ts';
import {
  colored,
  createStyledLine,
  type HighlightCode,
  type LogicalLine,
  plain,
  type StyledSpan,
  sliceSpans,
} from '../../text/line.ts';
import { type RenderContext, shortenPath } from '../../text/render-context.ts';
import type { Glyphs } from '../../theme/glyphs.ts';
import type { TextStyle } from '../../theme/theme.ts';

type Diff = Extract<Display, { kind: 'diff' }>;
type Hunk = Diff['hunks'][number];

/** The hunks of a diff, and the path of the file, which tells its language. */
type DiffOfFile = { readonly hunks: Diff['hunks']; readonly path?: string | undefined };

/** Renders a diff with line numbers and signs, so that it is readable without colors. */
export function renderDiff(
  { hunks, path }: DiffOfFile,
  { width, highlight, cwd }: Pick<RenderContext, 'width' | 'highlight' | 'cwd'>,
): readonly LogicalLine[] {
  const numberColumns = width < 40 ? 0 : getNumberWidth(hunks);
  return hunks.flatMap((hunk, index) => [
    ...createHunkHead(hunk, hunks[index - 1], { numberColumns, cwd }),
    ...createHunkLines(hunk, numberColumns, highlightHunk(hunk, hunk.path ?? path, highlight)),
  ]);
}

/** Creates the line above a hunk: the name of its file, where another file begins, or an ellipsis. */
function createHunkHead(
  { path }: Hunk,
  previous: Hunk | undefined,
  { numberColumns, cwd }: { readonly numberColumns: number; readonly cwd: string },
): readonly LogicalLine[] {
  if (path !== undefined && path !== previous?.path)
    return [createStyledLine(plain(`  ${escapeCodeLine(shortenPath(path, cwd))}`))];
  return previous === undefined ? [] : [createStyledLine(colored('dim', `${' '.repeat(numberColumns + 2)}…`))];
}

/** The syntax spans of the lines of a hunk; undefined for an unknown language. */
type HunkSyntax = readonly (readonly StyledSpan[] | undefined)[];

/** Hunks with more lines are shown without syntax colors. */
const MAX_HIGHLIGHTED_LINES = 2_000;

/** Highlights both versions of a hunk: removed lines in the old one, all others in the new one. */
export function highlightHunk(
  { lines }: Hunk,
  path: string | undefined,
  highlight: HighlightCode | undefined,
): HunkSyntax {
  const language = path === undefined ? '' : getLanguage(path);
  if (highlight === undefined || language === '' || lines.length > MAX_HIGHLIGHTED_LINES) return [];
  const highlightSide = (other: DiffLine['kind']) => {
    const code = lines.filter(({ kind }) => kind !== other).map(({ text }) => text);
    return highlight(code.join('\n'), language) ?? [];
  };
  const [before, after] = [highlightSide('add'), highlightSide('del')];
  let [oldIndex, newIndex] = [0, 0];
  return lines.map(({ kind }) => {
    const line = kind === 'del' ? before[oldIndex] : after[newIndex];
    if (kind !== 'add') oldIndex += 1;
    if (kind !== 'del') newIndex += 1;
    return line?.spans;
  });
}

/** Returns the language of a file by the ending of its name, or by the name of one without. */
function getLanguage(path: string): string {
  const name = path.slice(path.lastIndexOf('/') + 1).toLowerCase();
  const ending = name.slice(name.lastIndexOf('.') + 1);
  return ENDING_LANGUAGES[ending] ?? ending;
}

/** Endings that the highlighter knows by another name. */
const ENDING_LANGUAGES: Readonly<Record<string, string>> = { mts: 'ts', cts: 'ts', jsonl: 'json', jsonc: 'json' };

function createHunkLines(hunk: Hunk, numberColumns: number, syntax: HunkSyntax): readonly LogicalLine[] {
  let oldLine = hunk.oldStart;
  let newLine = hunk.newStart;
  const changes = findChangedRanges(hunk.lines);
  return hunk.lines.map(({ kind, text }, index) => {
    const number = kind === 'del' ? oldLine : newLine;
    if (kind !== 'add') oldLine += 1;
    if (kind !== 'del') newLine += 1;
    const gutter = numberColumns === 0 || number === 0 ? '' : `${String(number).padStart(numberColumns)} `;
    return createStyledLine(
      colored('dim', `  ${gutter}`),
      ...renderDiffLine({ kind, text }, changes[index], syntax[index]),
    );
  });
}

/** Renders a line of a hunk after its sign. The changed range is emphasized, also without colors. */
export function renderDiffLine(
  { kind, text }: DiffLine,
  range: RowTextRange | undefined,
  syntax: readonly StyledSpan[] | undefined,
): readonly StyledSpan[] {
  const spans = syntax ?? [plain(text)];
  if (kind === 'same') return [plain('  '), ...spans.map((span) => ({ ...span, text: escapeCodeLine(span.text) }))];
  const style: TextStyle =
    kind === 'add' ? { token: 'add', background: 'addBg' } : { token: 'del', background: 'delBg' };
  const { background } = style;
  const createSpans = (from: number, to: number, added: TextStyle): readonly StyledSpan[] =>
    sliceSpans(spans, from, to).map((span) => ({
      text: escapeCodeLine(span.text),
      style: { ...(syntax === undefined ? style : { background }), ...span.style, ...added },
    }));
  const sign = { text: kind === 'add' ? '+ ' : '- ', style };
  if (range === undefined || range.from === range.to) return [sign, ...createSpans(0, text.length, {})];
  return [
    sign,
    ...createSpans(0, range.from, {}),
    ...createSpans(range.from, range.to, { emphasis: true }),
    ...createSpans(range.to, text.length, {}),
  ];
}

function getNumberWidth(hunks: readonly Hunk[]): number {
  const last = hunks.at(-1);
  if (last === undefined) return 0;
  const highest = Math.max(last.oldStart + last.oldLines, last.newStart + last.newLines);
  return highest <= 0 ? 0 : String(highest).length;
}

const SIGNS = { add: '+', del: '-', same: ' ' } as const;

/** Formats a hunk as plain text, for copying. */
export function formatHunk({ lines }: Hunk): string {
  return lines.map(({ kind, text }) => `${SIGNS[kind]}${text}`).join('\n');
}

const WORDS = /[\p{L}\p{N}\p{M}_]+|\s+|[^\p{L}\p{N}\p{M}_\s]/gu;

/**
 * Returns the changed range of each line of a hunk, for emphasis; undefined for lines that are new, removed or
 * completely rewritten. Lines are compared in pairs where as many lines were removed as added.
 */
export function findChangedRanges(lines: readonly DiffLine[]): readonly (RowTextRange | undefined)[] {
  const changes: (RowTextRange | undefined)[] = lines.map(() => undefined);
  for (let index = 0; index < lines.length; ) {
    const removed = countAdjacentDiffLines(lines, index, 'del');
    const added = countAdjacentDiffLines(lines, index + removed, 'add');
    if (removed > 0 && removed === added) {
      for (let line = index; line < index + removed; line += 1) {
        const pair = compareLines(lines[line]?.text ?? '', lines[line + removed]?.text ?? '');
        changes[line] = pair?.before;
        changes[line + removed] = pair?.after;
      }
    }
    index += Math.max(1, removed + added);
  }
  return changes;
}

/** Returns the number of adjacent lines of a kind from an index on. */
export function countAdjacentDiffLines(lines: readonly DiffLine[], from: number, kind: DiffLine['kind']): number {
  let length = 0;
  while (lines[from + length]?.kind === kind) length += 1;
  return length;
}

/** Returns the ranges between the common start and the common end of two lines. */
function compareLines(before: string, after: string) {
  const [oldWords, newWords] = [before.match(WORDS) ?? [], after.match(WORDS) ?? []];
  const commonLength = Math.min(oldWords.length, newWords.length);
  let head = 0;
  while (head < commonLength && oldWords[head] === newWords[head]) head += 1;
  let tail = 0;
  while (tail < commonLength - head && oldWords[oldWords.length - 1 - tail] === newWords[newWords.length - 1 - tail])
    tail += 1;
  const start = oldWords.slice(0, head).join('').length;
  const end = oldWords.slice(oldWords.length - tail).join('').length;
  // Lines with only whitespace in common are not versions of the same line.
  const common = before.slice(0, start) + (tail === 0 ? '' : before.slice(-end));
  if (common.trim() === '') return undefined;
  const tailLength = tail === 0 ? 0 : end;
  return {
    before: { from: start, to: before.length - tailLength },
    after: { from: start, to: after.length - tailLength },
  };
}

/** Formats counts of added and removed lines as `+3 −2`, in the colors of a diff or dim. */
export function formatDiffStat(
  { added, removed }: { readonly added: number; readonly removed: number },
  { minus }: Glyphs,
  mode: 'diff' | 'dim' = 'dim',
): readonly StyledSpan[] {
  if (mode === 'dim') return [colored('dim', `+${added} ${minus}${removed}`)];
  return [colored('add', `+${added}`), colored('dim', ' '), colored('del', `${minus}${removed}`)];
}

/** Creates a diff from the input of an edit. Line numbers are unknown, because the file is not read. */
export function createInputDiff(input: JsonObject): readonly DiffHunk[] {
  if (Array.isArray(input.edits))
    return input.edits.flatMap((edit) => (isJsonObject(edit) ? createInputDiff(edit) : []));
  const before = toText(input.old_string);
  const after = toText(input.new_string) ?? toText(input.content) ?? toText(input.new_source);
  if (before === undefined && after === undefined) return [];
  const oldLines = splitLines(before);
  const newLines = splitLines(after);
  let head = 0;
  while (head < oldLines.length && head < newLines.length && oldLines[head] === newLines[head]) head += 1;
  let tail = 0;
  while (
    tail < oldLines.length - head &&
    tail < newLines.length - head &&
    oldLines.at(-1 - tail) === newLines.at(-1 - tail)
  )
    tail += 1;
  const lines = [
    ...toDiffLines('same', oldLines.slice(0, head)),
    ...toDiffLines('del', oldLines.slice(head, oldLines.length - tail)),
    ...toDiffLines('add', newLines.slice(head, newLines.length - tail)),
    ...toDiffLines('same', oldLines.slice(oldLines.length - tail)),
  ];
  return [{ oldStart: 0, oldLines: 0, newStart: 0, newLines: 0, lines }];
}

function toDiffLines(kind: DiffLine['kind'], lines: readonly string[]): readonly DiffLine[] {
  return lines.map((line) => ({ kind, text: line }));
}

function splitLines(value: string | undefined): readonly string[] {
  return value === undefined || value === '' ? [] : value.replace(/\n$/, '').split('\n');
}

function toText(value: JsonValue | undefined): string | undefined {
  return typeof value === 'string' ? value : undefined;
}
