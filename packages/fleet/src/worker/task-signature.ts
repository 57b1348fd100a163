import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { runProgram, sortKeys } from '@ouro-cli/ouro/commands';
import type { NewBatchTask } from '../store/batch.ts';

/** Limits the use of a signature to fleet tasks. */
const NAMESPACE = 'ouro-fleet';
const TIMEOUT_MS = 20_000;

type SignedTask = Pick<NewBatchTask, 'key' | 'kind' | 'spec'>;

/** Returns the signed text: everything that determines the work. */
const getSignedText = (batch: string, { key, kind, spec }: SignedTask): string =>
  JSON.stringify(sortKeys({ batch, key, kind, spec }));

/** Signs a task with an SSH key. */
export async function signBatchTask(batch: string, task: SignedTask, keyFile: string): Promise<string> {
  const sign = ['-Y', 'sign', '-q', '-f', keyFile, '-n', NAMESPACE];
  const { code, stdout, stderr, problem } = await runProgram('ssh-keygen', sign, {
    input: getSignedText(batch, task),
    timeoutMs: TIMEOUT_MS,
  });
  if (code === 0) return stdout.toString('utf8');
  const reason = problem ?? stderr.toString('utf8').trim();
  throw new Error(`The tasks could not be signed with ${keyFile}: ${reason}`);
}

/** Verifies the signature of a task. Returns the problem; `undefined` if an allowed signer has signed it. */
export async function findTaskSignatureProblem(
  batch: string,
  task: SignedTask & { readonly signature: string | undefined },
  allowedSigners: string,
): Promise<string | undefined> {
  if (task.signature === undefined) return 'it is not signed, and this machine runs only signed tasks';
  const folder = await mkdtemp(join(tmpdir(), 'ouro-signature-'));
  try {
    const file = join(folder, 'signature');
    await writeFile(file, task.signature, { mode: 0o600 });
    const found = await runProgram('ssh-keygen', ['-Y', 'find-principals', '-s', file, '-f', allowedSigners], {
      timeoutMs: TIMEOUT_MS,
    });
    const [signer = ''] = found.stdout.toString('utf8').split('\n');
    if (found.code !== 0 || signer === '') return `it is not signed by an allowed signer (${allowedSigners})`;
    const verify = ['-Y', 'verify', '-q', '-f', allowedSigners, '-I', signer, '-n', NAMESPACE, '-s', file];
    const { code } = await runProgram('ssh-keygen', verify, {
      input: getSignedText(batch, task),
      timeoutMs: TIMEOUT_MS,
    });
    return code === 0 ? undefined : 'its signature is not valid: it was changed after signing';
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}
