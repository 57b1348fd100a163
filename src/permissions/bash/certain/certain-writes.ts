import { resolve } from 'node:path';
import { parse } from 'unbash';
import { characterProblems } from '../check-bytes.ts';
import { exactProgram } from '../programs.ts';
import { NOWHERE, type ShellPart, spelled } from '../shell-part.ts';
import { isCovered } from './covered.ts';
import { readCertain } from './read-certain.ts';
import { readOnlyReading } from './read-only.ts';

/** None of these takes a place as its value, as `-t` does. */
const PLAIN_OPTION = /^(?:-[a-su-zA-SU-Z]+|--(?:recursive|force|verbose|parents|no-clobber|append))$/;

/**
 * Where a command can change something at all, with everything below; `undefined` when nobody knows. What changes
 * elsewhere while it runs is somebody else's work.
 */
export function certainWrites(command: string, cwd: string): readonly string[] | undefined {
  const script = parse(command);
  const { parts, problems } = readCertain(command, script, cwd, NOWHERE);
  if (problems.length > 0 || characterProblems(command).length > 0 || !isCovered(command, script)) return undefined;
  const places = parts.map(writesOf);
  return places.some((each) => each === undefined) ? undefined : places.flatMap((each) => each ?? []);
}

function writesOf({ argv, assignments, redirects, cwds }: ShellPart): readonly string[] | undefined {
  if (assignments.length > 0) return undefined;
  const opened = redirects.filter(({ use }) => use !== 'read').map(({ target }) => target);
  const [program, ...words] = argv;
  const changed = readOnlyReading(argv).ok ? [] : changesItsWords(program?.text ?? '') ? words : undefined;
  if (changed === undefined || changed.some((word) => word.text.startsWith('-') && !PLAIN_OPTION.test(word.text)))
    return undefined;
  const places = [...opened, ...changed.filter((word) => !word.text.startsWith('-'))];
  if (places.some(({ kind, home }) => kind !== 'literal' || home !== 'none')) return undefined;
  return cwds.flatMap((folder) => places.map((word) => resolve(folder, spelled(word))));
}

/** It makes, changes or removes what it is given and nothing else. */
function changesItsWords(name: string): boolean {
  const { writes, edits, opensNothing } = exactProgram(name);
  return writes !== undefined && (edits !== undefined || opensNothing === true);
}
