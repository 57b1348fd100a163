import { readdir } from 'node:fs/promises';
import { dirname } from 'node:path';
import { ifThere } from '../../lib/files/errno.ts';
import { subagentPath } from '../paths.ts';

/** The ids of the sub-agents a session has had. */
export async function agentsOf(folder: string): Promise<readonly string[]> {
  const names = (await ifThere(readdir(dirname(subagentPath(folder, ''))))) ?? [];
  return names.flatMap((name) => /^agent-(.+)\.jsonl$/.exec(name)?.[1] ?? []).toSorted();
}
