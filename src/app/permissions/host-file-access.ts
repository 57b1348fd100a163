import { constants, open } from 'node:fs/promises';
import type { ActionResult, HostControlPort } from '../../contracts/frontend/host-capabilities.ts';
import { getErrorMessage } from '../../lib/errors.ts';
import { toNativePath } from '../../lib/files/path-style.ts';
import { decide } from '../../permissions/decide.ts';
import { resolvePath } from '../../permissions/resolve-path.ts';
import type { FileReadState } from '../../tools/files/file-read-state.ts';
import { readFileBytes } from '../../tools/files/read-bytes.ts';
import { readTraits } from '../../tools/read/read.ts';
import { getToolFacts } from '../../tools/tool-traits.ts';
import type { SessionPermissions } from './session-permissions.ts';

type ReadDeps = { readonly permissions: SessionPermissions; readonly cwd: string };

/** Returns whether the Read tool could read a path unasked; `@` mentions follow the same rules. */
export function canReadUnasked(path: string, deps: ReadDeps): boolean {
  return decideRead(path, deps).verdict === 'allow';
}

function decideRead(path: string, { permissions, cwd }: ReadDeps) {
  return decide(getToolFacts(readTraits.name, { file_path: path }, cwd), permissions.getPolicy(cwd), permissions.fs);
}

/** Calls `use` with the real path of a file that the Read tool could read unasked; a failure becomes a result. */
async function accessFile<Result>(
  path: string,
  deps: ReadDeps,
  use: (real: string) => Promise<Result>,
): Promise<Result | { readonly ok: false; readonly problem: string }> {
  const { verdict, reasons } = decideRead(path, deps);
  if (verdict !== 'allow') return { ok: false, problem: `Reading ${path} is not allowed: ${reasons.join(' ')}` };
  const { permissions, cwd } = deps;
  const { real } = resolvePath(permissions.fs, { cwd, home: permissions.getPolicy(cwd).home }, path);
  try {
    return await use(toNativePath(real));
  } catch (thrown) {
    return { ok: false, problem: `${path} could not be read: ${getErrorMessage(thrown)}` };
  }
}

/** Reads the start of a file for an SDK host, if the Read tool could read it unasked. */
export async function readFileForSdkHost(
  path: string,
  maxBytes: number,
  deps: ReadDeps,
): ReturnType<HostControlPort['readFile']> {
  return accessFile(path, deps, (real) => readStart(real, maxBytes));
}

/** Marks a file as read by the model, as reported by an SDK host, if the file has not changed since. */
export async function markFileReadByModel(
  path: string,
  mtimeMs: number,
  deps: ReadDeps & { readonly readState: Pick<FileReadState, 'recordRead'> },
): Promise<ActionResult> {
  return accessFile(path, deps, async (real): Promise<ActionResult> => {
    const facts = await readFileBytes(real, new AbortController().signal);
    // Hosts report whole milliseconds.
    if (Math.floor(facts.mtimeMs) !== Math.floor(mtimeMs))
      return { ok: false, problem: `${path} has changed since it was read; read it again.` };
    deps.readState.recordRead(facts, 'told by the host');
    return { ok: true };
  });
}

async function readStart(path: string, maxBytes: number): ReturnType<HostControlPort['readFile']> {
  // Non-blocking: opening a pipe without a writer would wait forever.
  const file = await open(path, constants.O_RDONLY | constants.O_NONBLOCK);
  try {
    const facts = await file.stat();
    // Devices and pipes have no end.
    if (!facts.isFile()) return { ok: false, problem: `${path} is not a regular file.` };
    const buffer = Buffer.alloc(Math.min(maxBytes, facts.size));
    const { bytesRead } = await file.read(buffer, 0, buffer.length, 0);
    return { ok: true, path, bytes: buffer.subarray(0, bytesRead), truncated: facts.size > bytesRead };
  } finally {
    await file.close();
  }
}
