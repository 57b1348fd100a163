import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { NewTask } from '../../contracts/fleet.ts';
import { runProgram } from '../../lib/processes/run-program.ts';

/** Signatures of ours are good for nothing else. */
const NAMESPACE = 'ouro-fleet';
const TIMEOUT_MS = 20_000;

type Signed = Pick<NewTask, 'key' | 'kind' | 'spec'>;

/** What is signed: all that decides what a worker does. */
const textOf = (batch: string, { key, kind, spec }: Signed): string =>
  JSON.stringify(sorted({ batch, key, kind, spec }));

/** Signs a task with a key of ssh; the signature travels with it. */
export async function signTask(batch: string, task: Signed, keyFile: string): Promise<string> {
  const sign = ['-Y', 'sign', '-q', '-f', keyFile, '-n', NAMESPACE];
  const { code, stdout, stderr, problem } = await runProgram('ssh-keygen', sign, {
    input: textOf(batch, task),
    timeoutMs: TIMEOUT_MS,
  });
  if (code === 0) return stdout.toString('utf8');
  const why = problem ?? stderr.toString('utf8').trim();
  throw new Error(`The tasks could not be signed with ${keyFile}: ${why}`);
}

/** Why a task counts as signed by nobody who may; `undefined` when its signature is good. */
export async function signatureProblem(
  batch: string,
  task: Signed & { readonly signature: string | undefined },
  allowedSigners: string,
): Promise<string | undefined> {
  if (task.signature === undefined) return 'it is not signed, and this machine runs signed tasks only';
  const folder = await mkdtemp(join(tmpdir(), 'ouro-signature-'));
  try {
    const file = join(folder, 'signature');
    await writeFile(file, task.signature, { mode: 0o600 });
    const found = await runProgram('ssh-keygen', ['-Y', 'find-principals', '-s', file, '-f', allowedSigners], {
      timeoutMs: TIMEOUT_MS,
    });
    const [who = ''] = found.stdout.toString('utf8').split('\n');
    if (found.code !== 0 || who === '') return `nobody in ${allowedSigners} has signed it`;
    const verify = ['-Y', 'verify', '-q', '-f', allowedSigners, '-I', who, '-n', NAMESPACE, '-s', file];
    const { code } = await runProgram('ssh-keygen', verify, { input: textOf(batch, task), timeoutMs: TIMEOUT_MS });
    return code === 0 ? undefined : 'its signature does not belong to it: it was changed after it was signed';
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}

/** The same value with its keys in the order of the alphabet: databases and parsers keep no order. */
function sorted(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(sorted);
  if (typeof value !== 'object' || value === null) return value;
  const entries = Object.entries(value).filter(([, part]) => part !== undefined);
  return Object.fromEntries(entries.sort(([a], [b]) => (a < b ? -1 : 1)).map(([key, part]) => [key, sorted(part)]));
}
