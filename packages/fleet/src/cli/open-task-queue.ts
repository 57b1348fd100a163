import { join } from 'node:path';
import { getErrorMessage, openJsonStore, type ProcessIo, redactSecrets, UsageError } from '@ouro-cli/ouro/commands';
import { z } from 'zod';
import { StoreDamaged, StoreUnavailable } from '../store/database.ts';
import type { FleetStore } from '../store/fleet-store.ts';
import { type FleetStoreLocation, openFleetStore } from '../store/open-fleet-store.ts';

/** An open queue. `reach` is `many` when other machines share it; `folder` holds the fleet files of this machine. */
export type OpenedTaskQueue = {
  readonly store: FleetStore;
  readonly reach: 'this machine' | 'many';
  /** Set if the connection is encrypted, or does not leave this machine. */
  readonly isPrivate: boolean;
  readonly folder: string;
};

/** Opens the named queue, else that of `OURO_QUEUE`, else the local queue of this machine. */
export async function openTaskQueue(
  { environment }: Pick<ProcessIo, 'environment'>,
  named: string | undefined,
): Promise<OpenedTaskQueue> {
  const folder = join(environment.ouroHome, 'fleet');
  const url = named === undefined ? environment.keys.OURO_QUEUE : await resolveUrl(named, environment.ouroHome);
  const location: FleetStoreLocation =
    url === undefined || url === '' ? { kind: 'here', folder } : { kind: 'postgres', url: validateUrl(url) };
  try {
    const store = await openFleetStore(location);
    if (location.kind === 'here') return { store, reach: 'this machine', isPrivate: true, folder };
    return { store, reach: 'many', isPrivate: isSecureQueueUrl(location.url), folder };
  } catch (thrown) {
    // Database errors may repeat the URL with its password.
    throw new QueueProblem(redactSecrets(getErrorMessage(thrown)), { cause: thrown });
  }
}

/** A queue that cannot be opened or reached; not an internal error. */
class QueueProblem extends Error {
  override readonly name = 'QueueProblem';
}

/** Runs a command and reports an unreachable queue as a one-line error. */
export async function runWithQueueErrorReport(
  { stderr }: Pick<ProcessIo, 'stderr'>,
  command: () => Promise<number>,
): Promise<number> {
  try {
    return await command();
  } catch (thrown) {
    if (!(thrown instanceof QueueProblem || thrown instanceof StoreUnavailable || thrown instanceof StoreDamaged))
      throw thrown;
    stderr.write(`${redactSecrets(thrown.message)} Check the queue with: ouro worker doctor\n`);
    return 1;
  }
}

const isQueueUrl = (text: string): boolean => /^postgres(?:ql)?:\/\//.test(text);

/** Returns whether the address of a queue asks for TLS, or leads to this machine. @internal Exported for tests. */
export function isSecureQueueUrl(url: string): boolean {
  const { hostname, searchParams } = new URL(url);
  const mode = searchParams.get('sslmode');
  const host = searchParams.get('host') ?? hostname;
  const isLocal = host.startsWith('/') || ['', 'localhost', '127.0.0.1', '[::1]'].includes(host);
  return (
    isLocal || searchParams.get('ssl') === 'true' || (mode !== null && !['disable', 'allow', 'prefer'].includes(mode))
  );
}

function validateUrl(url: string): string {
  if (isQueueUrl(url)) return url;
  throw new UsageError('OURO_QUEUE is not a queue address. Use one like postgres://user@host/database.');
}

/** Resolves a name from queues.json. A URL with a password is rejected: every user of the machine can read arguments. */
async function resolveUrl(nameOrUrl: string, ouroHome: string): Promise<string> {
  if (isQueueUrl(nameOrUrl)) {
    if (redactSecrets(nameOrUrl) === nameOrUrl) return nameOrUrl;
    throw new UsageError(
      'Other users of this machine can read a password on the command line. ' +
        'Set OURO_QUEUE instead, or name the address in queues.json.',
    );
  }
  const file = join(ouroHome, 'queues.json');
  const format = {
    empty: {},
    entryDepth: 1,
    parse: (json: unknown) => z.record(z.string(), z.string()).safeParse(json),
  };
  const { value, problem } = await openJsonStore<Readonly<Record<string, string>>>(file, format).read();
  if (problem !== undefined) throw new UsageError(problem);
  const url = value[nameOrUrl];
  if (url !== undefined && isQueueUrl(url)) return url;
  const knownNames = Object.keys(value);
  const hint =
    knownNames.length === 0
      ? `Add it to ${file}: { "${nameOrUrl}": "postgres://…" }`
      : `Known queues: ${knownNames.join(', ')}.`;
  throw new UsageError(`Unknown queue "${nameOrUrl}". ${hint}`);
}
