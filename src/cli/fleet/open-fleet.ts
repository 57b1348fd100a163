import { join } from 'node:path';
import { z } from 'zod';
import type { FleetStore } from '../../contracts/fleet-store.ts';
import { openStore, type StorePlace } from '../../fleet/stores/open-store.ts';
import { StoreAway } from '../../fleet/stores/store-away.ts';
import { messageOf } from '../../lib/errors.ts';
import { openJsonStore } from '../../lib/files/json-store.ts';
import { withoutSecrets } from '../../lib/text/secrets.ts';
import { UsageError } from '../args/usage-error.ts';
import type { Io } from '../io.ts';

/** The queue that is meant, opened. */
export type Fleet = { readonly store: FleetStore; readonly reach: 'this machine' | 'many'; readonly folder: string };

/** Opens the queue a command is about: the one that is named, else `OURO_QUEUE`, else the file of this machine. */
export async function openFleet({ environment }: Pick<Io, 'environment'>, named: string | undefined): Promise<Fleet> {
  const folder = join(environment.ouroHome, 'fleet');
  const url = named === undefined ? environment.keys.OURO_QUEUE : await urlOf(named, environment.ouroHome);
  const place: StorePlace =
    url === undefined || url === '' ? { kind: 'here', folder } : { kind: 'postgres', url: checked(url) };
  try {
    return { store: await openStore(place), reach: place.kind === 'here' ? 'this machine' : 'many', folder };
  } catch (thrown) {
    // What an engine says of an address may repeat it, with its password.
    throw new QueueProblem(withoutSecrets(messageOf(thrown)), { cause: thrown });
  }
}

/** A queue that cannot be opened or reached: nothing of ours is at fault. */
class QueueProblem extends Error {
  override readonly name = 'QueueProblem';
}

/** Runs a command; when its queue is away or refuses, that is said in a sentence. */
export async function saidByQueue({ stderr }: Pick<Io, 'stderr'>, command: () => Promise<number>): Promise<number> {
  try {
    return await command();
  } catch (thrown) {
    if (!(thrown instanceof QueueProblem || thrown instanceof StoreAway)) throw thrown;
    stderr.write(`${withoutSecrets(thrown.message)} Look at its address, and whether it runs: ouro worker doctor\n`);
    return 1;
  }
}

const isAddress = (text: string): boolean => /^postgres(?:ql)?:\/\//.test(text);

function checked(url: string): string {
  if (isAddress(url)) return url;
  throw new UsageError('A queue has an address like postgres://user@host/database. OURO_QUEUE holds something else.');
}

/** Names stand for addresses in a private file: what is on a command line, everybody on the machine can read. */
async function urlOf(named: string, ouroHome: string): Promise<string> {
  if (isAddress(named)) {
    if (withoutSecrets(named) === named) return named;
    throw new UsageError(
      'A password on the command line can be read by everybody on this machine. ' +
        'Set OURO_QUEUE instead, or give the address a name in queues.json and use that.',
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
  const found = value[named];
  if (found !== undefined && isAddress(found)) return found;
  const known = Object.keys(value);
  const help =
    known.length === 0 ? `${file} has no names yet: { "${named}": "postgres://…" }` : `There are: ${known.join(', ')}.`;
  throw new UsageError(`There is no queue called "${named}". ${help}`);
}
