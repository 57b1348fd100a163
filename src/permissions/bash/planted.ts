import type { DecisionContext } from '../paths/context.ts';
import type { Need } from '../paths/finding.ts';
import { workspacePrograms } from '../paths/search-path.ts';
import { safelyPeeled } from './possible/wrappers.ts';
import { exactProgram } from './programs.ts';
import type { ShellPart } from './shell-part.ts';

/**
 * Why what only reads may be another program than it seems. A line that runs unasked as a whole is given a PATH
 * without the workspace, so that its programs need only be there; beside other commands none may lie in the workspace.
 */
export function plantedNeeds(
  context: DecisionContext,
  parts: readonly ShellPart[],
  line: 'unasked' | 'mixed',
): readonly Need[] {
  const { inside, outside } = workspacePrograms(
    context.policy,
    context.fs,
    parts.flatMap(({ cwds }) => cwds),
  );
  if (inside.length === 0) return [];
  const isIn = (folders: readonly string[], name: string) =>
    folders.some((folder) => context.fs.lstat(`${folder}/${name}`) !== undefined);
  const planted = parts
    .flatMap((part) => namesOf(part))
    .find((name) => isIn(inside, name) && (line === 'mixed' || !isIn(outside, name)));
  if (planted === undefined) return [];
  return [{ kind: 'command', subject: planted, text: `PATH finds ${planted} inside the workspace.` }];
}

/** The programs a part is found by: its wrappers, its own name, and those that it starts itself. */
function namesOf({ argv }: ShellPart): readonly string[] {
  const words = argv.map((word) => word.text);
  const start = safelyPeeled(words) ?? 0;
  const named = words.slice(0, start + 1).filter((word) => !word.startsWith('-') && !word.includes('/'));
  return [...named, ...(exactProgram(words[start] ?? '').starts ?? [])];
}
