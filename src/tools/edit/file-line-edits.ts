import { readFile } from 'node:fs/promises';
import { z } from 'zod';
import type { Display } from '../../contracts/display.ts';
import type { JsonObject } from '../../contracts/json.ts';
import type { ToolFacts } from '../../contracts/permission.ts';
import { ToolFailure, type ToolOutcome } from '../../contracts/tool.ts';
import { type DecodedText, decodeText, encodeText } from '../../lib/files/text-encoding.ts';
import { formatCount } from '../../lib/text/format.ts';
import {
  changeFilesExclusively,
  type FileChangeDeps,
  prepareFileRollback,
  type ReplacedContent,
  readFileToEdit,
  writeAndRecordFile,
} from '../files/change-file.ts';
import { diffFile } from '../files/diff-file.ts';

const lineEdit = z.strictObject({ line: z.int().positive(), old_string: z.string(), new_string: z.string() });

/** Schema of a change of one file: whole lines, counted from 1, that others replace. */
export const fileLineEditsSchema = z.strictObject({ file_path: z.string().min(1), edits: z.array(lineEdit).min(1) });

/** A change of one file. */
export type FileLineEdits = z.output<typeof fileLineEditsSchema>;

type PlannedChange = ReplacedContent & {
  readonly file: string;
  readonly before: DecodedText;
  readonly text: string;
  readonly bytes: Uint8Array;
};

/** Changes all files or none. */
export async function applyFileLineEdits(
  changes: readonly FileLineEdits[],
  deps: FileChangeDeps,
  signal: AbortSignal,
): Promise<ToolOutcome> {
  const files = changes.map(({ file_path }) => file_path);
  const { plans, methods } = await changeFilesExclusively(files, deps, signal, () =>
    changeFiles(changes, deps, signal),
  );
  const lines = changes.map(({ file_path, edits }, at) => {
    const numbers = edits.map(({ line }) => line).join(', ');
    return `${file_path} (${edits.length === 1 ? 'line' : 'lines'} ${numbers})${methods[at] ?? ''}`;
  });
  const display = await createDisplay(
    plans.map(({ file, before, text }) => ({ file, before: before.text, after: text })),
  );
  return {
    content: `Changed ${formatCount(plans.length, 'file')}:\n${lines.join('\n')}`,
    ...(display === undefined ? {} : { display }),
  };
}

async function changeFiles(
  changes: readonly FileLineEdits[],
  deps: FileChangeDeps,
  signal: AbortSignal,
): Promise<{ readonly plans: readonly PlannedChange[]; readonly methods: readonly string[] }> {
  const plans: PlannedChange[] = [];
  for (const change of changes) plans.push(await planChange(change, deps, signal));
  signal.throwIfAborted();
  const guard = await prepareFileRollback(
    plans.map(({ file }) => file),
    deps,
  );
  const methods: string[] = [];
  try {
    for (const plan of plans) methods.push(await writeAndRecordFile(plan.file, plan.bytes, deps, plan));
  } catch (thrown) {
    await guard.recordStep();
    const left = await guard.restore();
    if (!(thrown instanceof ToolFailure) || left.length > 0) throw thrown;
    throw new ToolFailure(`No file is changed. ${thrown.message}`, { cause: thrown });
  }
  return { plans, methods };
}

async function planChange(
  { file_path: file, edits }: FileLineEdits,
  deps: FileChangeDeps,
  signal: AbortSignal,
): Promise<PlannedChange> {
  const { bytes: oldBytes, diskBytes: expected, knowledge } = await readFileToEdit(file, deps, signal);
  const before = decodeText(oldBytes);
  if (before === undefined) throw new ToolFailure(`${file} is binary; it cannot be edited as text.`);
  const text = replaceLines(before.text, edits);
  if (text === undefined) throw new ToolFailure(`${file} is no longer as the language server has it. Call again.`);
  const encoded = encodeText(text, before);
  if (!encoded.ok) throw new ToolFailure(`${file} is ${before.encoding} and cannot hold “${encoded.character}”.`);
  return { file, before, text, bytes: encoded.bytes, expected, knowledge };
}

/** Replaces lines from the last to the first; `undefined` if the old ones are not there. */
function replaceLines(text: string, edits: FileLineEdits['edits']): string | undefined {
  const lines = text.split('\n');
  for (const { line, old_string, new_string } of edits.toSorted((a, b) => b.line - a.line)) {
    const count = old_string.split('\n').length;
    if (lines.slice(line - 1, line - 1 + count).join('\n') !== old_string) return undefined;
    lines.splice(line - 1, count, ...new_string.split('\n'));
  }
  return lines.join('\n');
}

/** Computes the diff of all changes in an input; `undefined` without any. They carry the lines, so no file is read. */
export async function previewLineNumberEdits({ input }: ToolFacts): Promise<Display | undefined> {
  const changes = z.array(fileLineEditsSchema).safeParse(input.changed_files).data ?? [];
  const parts = changes.flatMap(({ file_path: file, edits }) =>
    edits.map(({ line, old_string, new_string }) => ({ file, line, before: old_string, after: new_string })),
  );
  return createDisplay(parts);
}

/** Files as an edit would leave them, which the user can change before it is applied. */
export type EditReview = {
  readonly files: readonly { readonly path: string; readonly text: string }[];
  /** Returns the input that produces these texts of the files; `undefined` when nothing of the edit is left. */
  createInput(saved: readonly string[]): JsonObject | undefined;
};

/** Creates the review of an input with changed files; `undefined` if one of them does not apply. */
export async function createLineChangesReview({ input }: ToolFacts): Promise<EditReview | undefined> {
  const changes = z.array(fileLineEditsSchema).safeParse(input.changed_files).data ?? [];
  const files: { readonly path: string; readonly before: string; readonly text: string }[] = [];
  for (const { file_path: path, edits } of changes) {
    const before = decodeText(await readFile(path))?.text;
    const text = before === undefined ? undefined : replaceLines(before, edits);
    if (before === undefined || text === undefined) return undefined;
    files.push({ path, before, text });
  }
  return {
    files,
    createInput(saved) {
      const left = files.flatMap(({ path, before, text }, index) => {
        const wanted = saved[index] ?? text;
        if (wanted === before) return [];
        const edits = wanted === text ? (changes[index]?.edits ?? []) : [replaceDifferentLines(before, wanted)];
        return [{ file_path: path, edits: [...edits] }];
      });
      return left.length === 0 ? undefined : { ...input, changed_files: left };
    },
  };
}

/** Creates the edit that turns one text into another: all lines from the first to the last different one. */
function replaceDifferentLines(before: string, after: string): FileLineEdits['edits'][number] {
  const [oldLines, newLines] = [before.split('\n'), after.split('\n')];
  const shorter = Math.min(oldLines.length, newLines.length);
  let head = 0;
  // An edit replaces at least one line, also to add some.
  while (head < shorter - 1 && oldLines[head] === newLines[head]) head += 1;
  let tail = 0;
  while (tail < shorter - head - 1 && oldLines.at(-1 - tail) === newLines.at(-1 - tail)) tail += 1;
  return {
    line: head + 1,
    old_string: oldLines.slice(head, oldLines.length - tail).join('\n'),
    new_string: newLines.slice(head, newLines.length - tail).join('\n'),
  };
}

type ChangedText = { readonly file: string; readonly line?: number; readonly before: string; readonly after: string };

/** Creates one diff of several texts, whose hunks name their files. */
async function createDisplay(texts: readonly ChangedText[]): Promise<Display | undefined> {
  const [first] = texts;
  if (first === undefined) return undefined;
  const diffs = await Promise.all(
    texts.map(async ({ file, line = 1, before, after }) => {
      const { display, added, removed } = await diffFile(file, before, after);
      const hunks = display.kind === 'diff' ? display.hunks : [];
      const moved = hunks.map((hunk) => ({
        ...hunk,
        oldStart: hunk.oldStart + line - 1,
        newStart: hunk.newStart + line - 1,
        path: file,
      }));
      return { hunks: moved, added, removed };
    }),
  );
  return {
    kind: 'diff',
    path: first.file,
    created: false,
    hunks: diffs.flatMap(({ hunks }) => hunks),
    added: diffs.reduce((sum, { added }) => sum + added, 0),
    removed: diffs.reduce((sum, { removed }) => sum + removed, 0),
  };
}
