import type { EditProposal } from '../contracts/face/conversation.ts';
import type { JsonObject } from '../contracts/json.ts';
import type { ToolFacts } from '../contracts/permission.ts';
import { withoutHunks } from '../lib/text/pick-hunks.ts';
import { showChange } from './file-diff.ts';
import { type EditPlace, outcomeOf } from './preview-edit.ts';

const CONTEXT_LINES = 3;

/** The file as an edit would leave it, to be changed by a person first; `undefined` where that cannot be said. */
export async function proposeEdit(facts: ToolFacts, place: EditPlace): Promise<EditProposal | undefined> {
  const outcome = await outcomeOf(facts, place, new AbortController().signal);
  if (outcome === undefined) return undefined;
  const { path, before = '', after } = outcome;
  const { display } = await showChange(path, before, after);
  const hunks = display.kind === 'diff' ? display.hunks : [];
  const { file_path } = facts.input;
  return {
    path,
    text: after,
    hunks,
    without: (refused) => withoutHunks(before, after, hunks, refused),
    inputFor(saved): JsonObject | undefined {
      if (saved === before) return undefined;
      if ('content' in facts.input) return { ...facts.input, content: saved };
      const { from, to } = changedPart(before, saved);
      return Array.isArray(facts.input.edits)
        ? { ...facts.input, edits: [{ old_string: from, new_string: to }] }
        : { ...(file_path === undefined ? {} : { file_path }), old_string: from, new_string: to };
    },
  };
}

/** The lines that differ, with as many around them as it takes to find the place again. */
function changedPart(before: string, after: string): { readonly from: string; readonly to: string } {
  const [old, now] = [before.split(/(?<=\n)/), after.split(/(?<=\n)/)];
  let head = 0;
  while (head < Math.min(old.length, now.length) && old[head] === now[head]) head += 1;
  let tail = 0;
  while (tail < Math.min(old.length, now.length) - head && old.at(-1 - tail) === now.at(-1 - tail)) tail += 1;
  for (let context = CONTEXT_LINES; context < old.length; context *= 2) {
    const start = Math.max(0, head - context);
    const end = Math.max(0, tail - context);
    const from = old.slice(start, old.length - end).join('');
    if (from !== '' && before.indexOf(from) === before.lastIndexOf(from)) {
      return { from, to: now.slice(start, now.length - end).join('') };
    }
  }
  return { from: before, to: after };
}
