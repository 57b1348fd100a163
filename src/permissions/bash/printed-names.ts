import { join, relative } from 'node:path';
import { starTest } from '../../lib/patterns/linear-match.ts';
import type { DecisionContext } from '../paths/context.ts';
import { namesBelow, scanFolder } from '../paths/folder-scan.ts';
import { gitIndex, repositoryOf } from './programs/git-config.ts';
import type { PrintedNames } from './programs/program.ts';
import { exactProgram } from './programs.ts';

const MAX_LOOKED_AT = 1_000;

/** All names that a command could print as things are; it may print fewer. `undefined` when nobody knows. */
export function printedNames(
  context: DecisionContext,
  cwd: string,
  [name = '', ...args]: readonly string[],
): readonly string[] | undefined {
  const names = exactProgram(name).names?.(args);
  if (names === undefined) return undefined;
  return names.of === 'tracked' ? trackedNames(context, cwd, names) : foundNames(context, cwd, names);
}

function trackedNames(
  { fs }: DecisionContext,
  cwd: string,
  { from, among }: Extract<PrintedNames, { of: 'tracked' }>,
): readonly string[] | undefined {
  const top = repositoryOf(fs, cwd);
  if (top === undefined || (from === 'top' && top !== cwd)) return undefined;
  const names = gitIndex(fs, top)?.map((name) => relative(cwd, join(top, name)));
  const fits = among.map((pattern) => ({ isIt: starTest(pattern), folder: `${pattern.replace(/\/+$/, '')}/` }));
  return names?.filter(
    (name) =>
      !name.startsWith('../') &&
      (fits.length === 0 || fits.some(({ isIt, folder }) => isIt(name) || folder === './' || name.startsWith(folder))),
  );
}

function foundNames(
  { fs }: DecisionContext,
  cwd: string,
  { places, opens }: Extract<PrintedNames, { of: 'below' }>,
): readonly string[] | undefined {
  const found: string[] = [];
  for (const place of places) {
    // As the start of a walk a link, or what is spelled in another way, is not followed here.
    const isPlain = /^(?:\.|(?!\.\.(?:\/|$))[\w.@+-]+(?:\/(?!\.\.(?:\/|$))[\w.@+-]+)*)$/.test(place);
    const folder = join(cwd, place);
    if (!isPlain || fs.lstat(folder)?.kind !== 'directory') return undefined;
    found.push(place);
    const scan = scanFolder(fs, folder, ({ path }) => {
      const inside = namesBelow(folder, path);
      if (opens(inside, () => true)) found.push([place, ...inside].join('/'));
      return found.length > MAX_LOOKED_AT;
    });
    if (scan !== undefined) return undefined;
  }
  return found;
}
