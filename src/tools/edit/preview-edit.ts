import { z } from 'zod';
import type { DiffHunk, Display } from '../../contracts/display.ts';
import type { EditProposal } from '../../contracts/frontend/conversation.ts';
import type { HostFiles } from '../../contracts/frontend/host-capabilities.ts';
import type { JsonObject } from '../../contracts/json.ts';
import type { ToolFacts } from '../../contracts/permission.ts';
import { decodeText } from '../../lib/files/text-encoding.ts';
import { revertHunks } from '../../lib/text/diff.ts';
import { isExistingPath } from '../files/change-file.ts';
import { diffFile } from '../files/diff-file.ts';
import { readFileWithEditor } from '../files/editor-files.ts';
import { resolveToolPath } from '../tool-facts.ts';
import { applyEdit } from './apply-edit.ts';
import { createLineChangesReview, type EditReview, previewLineNumberEdits } from './file-line-edits.ts';

const MAX_CHARS = 1_000_000;

const edit = z
  .object({ old_string: z.string(), new_string: z.string(), replace_all: z.boolean().optional() })
  .transform((raw) => ({
    oldText: raw.old_string,
    newText: raw.new_string,
    occurrences: raw.replace_all === true ? ('all' as const) : ('one' as const),
  }));
const editInput = z.union([
  z
    .object({ file_path: z.string(), content: z.string() })
    .transform(({ file_path, content }) => ({ file_path, content })),
  z.object({ file_path: z.string(), edits: z.array(edit) }),
  z.intersection(
    z.object({ file_path: z.string() }),
    edit.transform((single) => ({ edits: [single] })),
  ),
]);

type EditList = Extract<z.output<typeof editInput>, { edits: unknown }>['edits'];

/** Context in which the paths of an edit are resolved. */
type EditContext = { readonly cwd: string; readonly home: string; readonly editor?: HostFiles | undefined };

type EditOutcome = {
  readonly path: string;
  readonly before: string | undefined;
  readonly after: string;
  /** The single edits of a list. */
  readonly edits: EditList;
};

/** Computes the diff that an edit would make on the current file; `undefined` if the edit does not apply. */
export async function previewEdit(
  facts: ToolFacts,
  context: EditContext,
  signal: AbortSignal,
): Promise<Display | undefined> {
  if (facts.kind === 'edit' && facts.input.changed_files !== undefined) return previewLineNumberEdits(facts);
  const outcome = await computeEditOutcome(facts, context, signal);
  return outcome && (await diffFile(outcome.path, outcome.before, outcome.after)).display;
}

/** Computes a file before and after an edit; `before` is `undefined` for new files. */
async function computeEditOutcome(
  facts: ToolFacts,
  context: EditContext,
  signal: AbortSignal,
): Promise<EditOutcome | undefined> {
  const parsed = facts.kind === 'edit' ? editInput.safeParse(facts.input) : undefined;
  if (parsed?.success !== true) return undefined;
  try {
    const path = resolveToolPath(parsed.data.file_path, context);
    const fileExists = await isExistingPath(path);
    const before = fileExists ? decodeText((await readFileWithEditor(path, context.editor, signal)).bytes)?.text : '';
    if (before === undefined || before.length > MAX_CHARS) return undefined;
    const edits = 'content' in parsed.data ? [] : parsed.data.edits;
    const after = 'content' in parsed.data ? parsed.data.content : applyEdits(before, edits, path);
    return { path, before: fileExists ? before : undefined, after, edits };
  } catch {
    // The tool reports the problem itself; the permission dialog shows the raw input.
    return undefined;
  }
}

function applyEdits(before: string, edits: EditList, path: string): string {
  return edits.reduce((text, next) => applySingleEdit(text, next, path), before);
}

function applySingleEdit(text: string, next: EditList[number], path: string): string {
  return text === '' && next.oldText === '' ? next.newText : applyEdit(text, next, path).text;
}

const CONTEXT_LINES = 3;

/** Creates a proposal that the user can change before an edit is applied; `undefined` if the edit does not apply. */
export async function proposeEdit(facts: ToolFacts, context: EditContext): Promise<EditProposal | undefined> {
  const outcome = await computeEditOutcome(facts, context, new AbortController().signal);
  if (outcome === undefined) return undefined;
  const { path, before = '', after, edits } = outcome;
  const { file_path } = facts.input;
  return {
    path,
    text: after,
    ...(edits.length > 1 ? await splitByEdit(before, edits, path) : await splitByHunk(before, after, path)),
    createInput(saved): JsonObject | undefined {
      if (saved === before) return undefined;
      if ('content' in facts.input) return { ...facts.input, content: saved };
      const { from, to } = findChangedPart(before, saved);
      return Array.isArray(facts.input.edits)
        ? { ...facts.input, edits: [{ old_string: from, new_string: to }] }
        : { ...(file_path === undefined ? {} : { file_path }), old_string: from, new_string: to };
    },
  };
}

/** Creates the review of an edit of one or several files; `undefined` if the edit does not apply. */
export async function createEditReview(facts: ToolFacts, context: EditContext): Promise<EditReview | undefined> {
  if (facts.kind === 'edit' && facts.input.changed_files !== undefined) return createLineChangesReview(facts);
  const proposal = await proposeEdit(facts, context);
  if (proposal === undefined) return undefined;
  const { path, text, createInput } = proposal;
  return { files: [{ path, text }], createInput: ([saved = text]) => createInput(saved) };
}

type EditParts = Pick<EditProposal, 'hunks' | 'withoutHunks'>;

async function computeHunks(before: string, after: string, path: string): Promise<readonly DiffHunk[]> {
  const { display } = await diffFile(path, before, after);
  return display.kind === 'diff' ? display.hunks : [];
}

async function splitByHunk(before: string, after: string, path: string): Promise<EditParts> {
  const hunks = await computeHunks(before, after, path);
  return { hunks, withoutHunks: (refused) => revertHunks(before, after, hunks, refused) };
}

/** Makes each edit of a list a part. A later edit that needs the text of a refused one is left out with it. */
async function splitByEdit(before: string, edits: EditList, path: string): Promise<EditParts> {
  const hunks: DiffHunk[] = [];
  let text = before;
  for (const next of edits) {
    const changed = applySingleEdit(text, next, path);
    hunks.push(joinHunks(await computeHunks(text, changed, path)));
    text = changed;
  }
  const withoutHunks = (refused: readonly number[]) =>
    edits.reduce((kept, next, index) => {
      if (refused.includes(index)) return kept;
      try {
        return applySingleEdit(kept, next, path);
      } catch {
        return kept;
      }
    }, before);
  return { hunks, withoutHunks };
}

/** Joins the hunks of one edit, which replaced several places. */
function joinHunks(hunks: readonly DiffHunk[]): DiffHunk {
  const [first = EMPTY_HUNK] = hunks;
  return { ...first, lines: hunks.flatMap(({ lines }) => lines) };
}

const EMPTY_HUNK: DiffHunk = { oldStart: 0, oldLines: 0, newStart: 0, newLines: 0, lines: [] };

/** Returns the lines that differ, with enough context to be unique in the file. */
function findChangedPart(before: string, after: string): { readonly from: string; readonly to: string } {
  const [oldLines, newLines] = [before.split(/(?<=\n)/), after.split(/(?<=\n)/)];
  let head = 0;
  while (head < Math.min(oldLines.length, newLines.length) && oldLines[head] === newLines[head]) head += 1;
  let tail = 0;
  while (tail < Math.min(oldLines.length, newLines.length) - head && oldLines.at(-1 - tail) === newLines.at(-1 - tail))
    tail += 1;
  for (let contextLines = CONTEXT_LINES; contextLines < oldLines.length; contextLines *= 2) {
    const start = Math.max(0, head - contextLines);
    const end = Math.max(0, tail - contextLines);
    const from = oldLines.slice(start, oldLines.length - end).join('');
    if (from !== '' && before.indexOf(from) === before.lastIndexOf(from)) {
      return { from, to: newLines.slice(start, newLines.length - end).join('') };
    }
  }
  return { from: before, to: after };
}
