import { dirname, join } from 'node:path';
import type { DecisionContext } from '../paths/context.ts';
import type { NearFile } from './programs/reading.ts';

/** Why a file near the folders a program works in could make it run another one. */
export function nearProblem(
  context: DecisionContext,
  cwds: readonly string[],
  files: readonly NearFile[],
): string | undefined {
  const path = cwds.flatMap(upwards).flatMap((folder) => files.flatMap((file) => foundIn(context, folder, file)))[0];
  return path === undefined ? undefined : `${path} could make it run or fetch another version.`;
}

function upwards(folder: string): readonly string[] {
  return folder === dirname(folder) ? [folder] : [folder, ...upwards(dirname(folder))];
}

function foundIn({ fs }: DecisionContext, folder: string, { name, holding }: NearFile): readonly string[] {
  const path = join(folder, name);
  if (fs.lstat(path) === undefined) return [];
  return holding === undefined || holding.test(fs.readFile(path) ?? '') ? [path] : [];
}
