import { realpath, stat } from 'node:fs/promises';
import path from 'node:path';
import { ToolFailure } from '../../contracts/tool.ts';
import { ifThere } from '../../lib/files/errno.ts';
import { absolutePath } from '../file-arguments.ts';

export type SearchRoot = { readonly root: string; readonly file?: string; readonly prefix: string };

/** Where to search, and what to put before found paths so that they make sense from `cwd`. */
export async function searchRoot(
  written: string | undefined,
  from: { readonly cwd: string; readonly home: string },
): Promise<SearchRoot> {
  const full = absolutePath(written ?? '.', from);
  const facts = await ifThere(stat(full));
  if (facts === undefined)
    throw new ToolFailure(`${full} does not exist. Check the path, or leave it out to search ${from.cwd}.`);
  const real = await realpath(full);
  const root = facts.isDirectory() ? real : path.dirname(real);
  const inside = path.relative(await realpath(from.cwd), root);
  const prefix = inside === '' ? '' : inside.startsWith('..') ? `${root}/` : `${inside}/`;
  if (facts.isDirectory()) return { root, prefix };
  if (!facts.isFile()) throw new ToolFailure(`${full} is not a regular file and cannot be searched.`);
  return { root, prefix, file: path.basename(real) };
}
