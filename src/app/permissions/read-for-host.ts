import { constants, open } from 'node:fs/promises';
import type { Attempt, ControlPort } from '../../contracts/face/host.ts';
import { messageOf } from '../../lib/errors.ts';
import { decide } from '../../permissions/decide.ts';
import { diskFs } from '../../permissions/paths/fs.ts';
import { resolvePath } from '../../permissions/paths/paths.ts';
import { readFileBytes } from '../../tools/file-bytes.ts';
import { readStatement } from '../../tools/read/read.ts';
import type { ReadState } from '../../tools/read-state.ts';
import type { Permissions } from './permissions.ts';
import { factsOf } from './tool-facts.ts';

type Around = { readonly permissions: Pick<Permissions, 'policy'>; readonly cwd: string };

/** Whether the Read tool could read this path unasked: what somebody names with `@` follows the same rules. */
export function mayReadUnasked(path: string, around: Around): boolean {
  return judged(path, around).verdict === 'allow';
}

function judged(path: string, { permissions, cwd }: Around) {
  return decide(factsOf(readStatement.name, { file_path: path }, cwd), permissions.policy(cwd), diskFs);
}

/** Reads a file for a host: what the Read tool could not read unasked, a host cannot either. */
export async function readForHost(path: string, maxBytes: number, around: Around): ReturnType<ControlPort['readFile']> {
  const { verdict, reasons } = judged(path, around);
  if (verdict !== 'allow') return { ok: false, why: `${path} may not be read: ${reasons.join(' ')}` };
  const { real } = resolvePath(diskFs, { cwd: around.cwd, home: around.permissions.policy(around.cwd).home }, path);
  try {
    return await readStart(real, maxBytes);
  } catch (thrown) {
    return { ok: false, why: `${path} could not be read: ${messageOf(thrown)}` };
  }
}

/** Takes a host's word that the model has seen a file, as long as the file is still the one that was seen. */
export async function markAsRead(
  path: string,
  mtimeMs: number,
  around: Around & { readonly readState: Pick<ReadState, 'recordRead'> },
): Promise<Attempt> {
  const { verdict, reasons } = judged(path, around);
  if (verdict !== 'allow') return { ok: false, why: `${path} may not be read: ${reasons.join(' ')}` };
  const { real } = resolvePath(diskFs, { cwd: around.cwd, home: around.permissions.policy(around.cwd).home }, path);
  try {
    const facts = await readFileBytes(real, new AbortController().signal);
    // Hosts count in whole milliseconds.
    if (Math.floor(facts.mtimeMs) !== Math.floor(mtimeMs))
      return { ok: false, why: `${path} has changed since then: it has to be read again.` };
    around.readState.recordRead(facts, 'told by the host');
    return { ok: true };
  } catch (thrown) {
    return { ok: false, why: `${path} could not be read: ${messageOf(thrown)}` };
  }
}

async function readStart(path: string, maxBytes: number): ReturnType<ControlPort['readFile']> {
  // Without waiting: a pipe nobody writes to would hold us.
  const file = await open(path, constants.O_RDONLY | constants.O_NONBLOCK);
  try {
    const facts = await file.stat();
    // A device or a pipe has no end.
    if (!facts.isFile()) return { ok: false, why: `${path} is no regular file.` };
    const buffer = Buffer.alloc(Math.min(maxBytes, facts.size));
    const { bytesRead } = await file.read(buffer, 0, buffer.length, 0);
    return { ok: true, path, bytes: buffer.subarray(0, bytesRead), truncated: facts.size > bytesRead };
  } finally {
    await file.close();
  }
}
