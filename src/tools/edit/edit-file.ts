import type { JsonObject } from '../../contracts/json.ts';
import { ToolFailure, type ToolOutcome } from '../../contracts/tool.ts';
import { decodeText, encodeText } from '../../lib/files/text-encoding.ts';
import { formatCount } from '../../lib/text/format.ts';
import {
  changeFilesExclusively,
  type FileChangeDeps,
  isExistingPath,
  type ReplacedContent,
  readFileToEdit,
  writeAndRecordFile,
} from '../files/change-file.ts';
import { diffFile, getOldTextForHosts } from '../files/diff-file.ts';
import { applyEdit, type EditedText, type TextEdit } from './apply-edit.ts';
import { describeNewSyntaxError } from './check-syntax.ts';

/** Applies edits in order and writes the file once; if one fails, the file is unchanged. */
export async function editFile(
  file: string,
  edits: readonly TextEdit[],
  deps: FileChangeDeps,
  signal: AbortSignal,
  extraFields: JsonObject = {},
): Promise<ToolOutcome> {
  const { plan, method } = await changeFilesExclusively([file], deps, signal, async () => {
    const planned = await planEdits(file, edits, deps, signal);
    signal.throwIfAborted();
    return { plan: planned, method: await writeAndRecordFile(file, planned.bytes, deps, planned) };
  });
  const before = plan.before?.text;
  const change = await diffFile(file, before, plan.text);
  const summary = before === undefined ? `Created ${file}.` : describeEdits(file, plan);
  return {
    content: `${summary}${method}${await describeNewSyntaxError(file, before, plan.text)}`,
    display: change.display,
    structured: {
      ...extraFields,
      filePath: file,
      originalFile: getOldTextForHosts(before),
      structuredPatch: change.structuredPatch,
      userModified: false,
    },
  };
}

/** Edits of a file that apply. `before` is absent for a new file. */
export type EditPlan = ReplacedContent & {
  readonly before: { readonly text: string } | undefined;
  readonly text: string;
  readonly bytes: Uint8Array;
  readonly lines: readonly number[];
  readonly hasNearMatch: boolean;
};

/** Applies edits in memory. Throws a `ToolFailure` if one does not apply or the file may not be changed. */
export async function planEdits(
  file: string,
  edits: readonly TextEdit[],
  deps: FileChangeDeps,
  signal: AbortSignal,
): Promise<EditPlan> {
  const isNew = edits[0]?.oldText === '' && !(await isExistingPath(file));
  const current = isNew ? undefined : await readFileToEdit(file, deps, signal);
  const decoded = current === undefined ? NEW_FILE : decodeText(current.bytes);
  if (decoded === undefined) throw new ToolFailure(`${file} is binary; it cannot be edited as text.`);
  const knowledge = current?.knowledge ?? 'seen';
  const applied = knowledge === 'seen' ? applyAll(decoded.text, edits, file) : applyUnseen(decoded.text, edits, file);
  const encoded = encodeText(applied.text, decoded);
  if (!encoded.ok) {
    throw new ToolFailure(
      `${file} is ${decoded.encoding} and cannot hold “${encoded.character}”. Use characters of that encoding, or convert the file first.`,
    );
  }
  const before = current === undefined ? undefined : decoded;
  return { ...applied, before, bytes: encoded.bytes, expected: current?.diskBytes ?? 'no file', knowledge };
}

/** Returns the reason why edits cannot be applied now. */
export async function findEditObstacle(...edit: Parameters<typeof planEdits>): Promise<string | undefined> {
  return catchToolFailureMessage(planEdits(...edit));
}

/** Returns the message of a `ToolFailure`; any other error is left to the call itself. */
export async function catchToolFailureMessage(preparation: Promise<unknown>): Promise<string | undefined> {
  return preparation.then(
    () => undefined,
    (thrown: unknown) => (thrown instanceof ToolFailure ? thrown.message : undefined),
  );
}

const NEW_FILE = { text: '', encoding: 'utf-8', bom: false } as const;

type AppliedEdits = Pick<EditPlan, 'text' | 'lines' | 'hasNearMatch'>;

function applyAll(before: string, edits: readonly TextEdit[], file: string): AppliedEdits {
  let text = before;
  let lines: readonly number[] = [];
  let hasNearMatch = false;
  edits.forEach((edit, index) => {
    if (text === '' && edit.oldText === '') {
      text = edit.newText;
      return;
    }
    const edited = applyOne(text, edit, file, edits.length === 1 ? '' : `Edit ${index + 1} of ${edits.length}`);
    text = edited.text;
    lines = addLines(lines, edited);
    hasNearMatch ||= edited.match === 'near';
  });
  return { text, lines, hasNearMatch };
}

function applyOne(text: string, edit: TextEdit, file: string, name: string): EditedText {
  try {
    return applyEdit(text, edit, file);
  } catch (thrown) {
    if (name === '' || !(thrown instanceof ToolFailure)) throw thrown;
    throw new ToolFailure(`${name} failed, so none was applied. ${thrown.message}`, { cause: thrown });
  }
}

/** Applies edits to an unseen file: each text must match once; errors say nothing about the content. */
function applyUnseen(before: string, edits: readonly TextEdit[], file: string): AppliedEdits {
  const isExact = edits.every(({ oldText, occurrences }) => oldText !== '' && occurrences === 'one');
  try {
    const applied = isExact ? applyAll(before, edits, file) : undefined;
    if (applied?.hasNearMatch === false) return applied;
  } catch (thrown) {
    if (!(thrown instanceof ToolFailure)) throw thrown;
  }
  throw new ToolFailure(
    `${file} has not been read in this session, and old_string does not name exactly one part of it. Read it first, then change it.`,
  );
}

/** Adds the lines of an edit to those of earlier ones, which it may have moved. */
function addLines(lines: readonly number[], { places }: EditedText): readonly number[] {
  const moved = lines.map((line) => places.reduce((at, place) => (place.line < at ? at + place.addedLines : at), line));
  return [...moved, ...places.map(({ line }) => line)];
}

function describeEdits(file: string, { lines, hasNearMatch }: EditPlan): string {
  const sorted = [...new Set(lines)].sort((a, b) => a - b);
  const where = sorted.length === 0 ? '' : ` (${sorted.length === 1 ? 'line' : 'lines'} ${sorted.join(', ')})`;
  const near = hasNearMatch
    ? ' It differed from old_string in the kind of quotes, dashes or blanks at line ends; unchanged parts keep those of the file.'
    : '';
  return `Replaced ${formatCount(lines.length, 'occurrence')} in ${file}${where}.${near}`;
}
