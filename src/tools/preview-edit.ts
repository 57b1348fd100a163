import { z } from 'zod';
import type { Display } from '../contracts/display.ts';
import type { HostFiles } from '../contracts/face/host.ts';
import type { ToolFacts } from '../contracts/permission.ts';
import { decodeText } from '../lib/files/encoding.ts';
import { applyEdit } from './edit/apply-edit.ts';
import { absolutePath } from './file-arguments.ts';
import { exists } from './file-change.ts';
import { showChange } from './file-diff.ts';
import { readOpenFile } from './open-in-editor.ts';

const MAX_CHARS = 1_000_000;

const edit = z
  .object({ old_string: z.string(), new_string: z.string(), replace_all: z.boolean().optional() })
  .transform((given) => ({
    oldText: given.old_string,
    newText: given.new_string,
    occurrences: given.replace_all === true ? ('all' as const) : ('one' as const),
  }));
const inputs = z.union([
  z
    .object({ file_path: z.string(), content: z.string() })
    .transform(({ file_path, content }) => ({ file_path, content })),
  z.object({ file_path: z.string(), edits: z.array(edit) }),
  z.intersection(
    z.object({ file_path: z.string() }),
    edit.transform((one) => ({ edits: [one] })),
  ),
]);

type Wanted = Extract<z.output<typeof inputs>, { edits: unknown }>['edits'];

/** Where an edit would happen. */
export type EditPlace = { readonly cwd: string; readonly home: string; readonly editor?: HostFiles | undefined };

type Outcome = { readonly path: string; readonly before: string | undefined; readonly after: string };

/** What an edit would change, worked out on the file as it is now; `undefined` where that cannot be said. */
export async function previewEdit(
  facts: ToolFacts,
  place: EditPlace,
  signal: AbortSignal,
): Promise<Display | undefined> {
  const outcome = await outcomeOf(facts, place, signal);
  return outcome && (await showChange(outcome.path, outcome.before, outcome.after)).display;
}

/** A file before and after an edit; `before` is absent where there is no file yet. */
export async function outcomeOf(facts: ToolFacts, place: EditPlace, signal: AbortSignal): Promise<Outcome | undefined> {
  const read = facts.kind === 'edit' ? inputs.safeParse(facts.input) : undefined;
  if (read?.success !== true) return undefined;
  try {
    const path = absolutePath(read.data.file_path, place);
    const isThere = await exists(path);
    const before = isThere ? decodeText((await readOpenFile(path, place.editor, signal)).bytes)?.text : '';
    if (before === undefined || before.length > MAX_CHARS) return undefined;
    const after = 'content' in read.data ? read.data.content : edited(before, read.data.edits, path);
    return { path, before: isThere ? before : undefined, after };
  } catch {
    // The tool itself will say what is wrong with it; the question shows the input as it is.
    return undefined;
  }
}

function edited(before: string, edits: Wanted, path: string): string {
  return edits.reduce(
    (text, one) => (text === '' && one.oldText === '' ? one.newText : applyEdit(text, one, path).text),
    before,
  );
}
