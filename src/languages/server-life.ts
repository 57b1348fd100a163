import { resolve } from 'node:path';
import type { LanguageServer } from '../contracts/extension.ts';
import type { JsonObject, JsonValue } from '../contracts/json.ts';
import { messageOf } from '../lib/errors.ts';
import type { ProgramLedger } from '../lib/processes/piped-program.ts';
import { type Connection, connect } from './connection.ts';
import { answerServer, initializeParams, type Sync, syncOf } from './initialize.ts';

/** What servers need from the rest. */
export type ServerParts = {
  /** The folder that is worked on. */
  readonly folder: string;
  readonly version: string;
  readonly variables: () => Readonly<Record<string, string>>;
  readonly newMarker: () => string;
  readonly ledger: ProgramLedger | undefined;
  /** A person is to know. */
  readonly tell: (words: string) => void;
};

type LifeEars = {
  /** It has started and knows nothing yet. */
  readonly greeted: () => void;
  readonly notified: (method: string, params: JsonValue) => void;
  /** It has gone, for now or for good. */
  readonly gone: () => void;
};

export type Greeted = { readonly connection: Connection; readonly sync: Sync };

type Life =
  | { readonly state: 'idle' | 'closed' }
  | { readonly state: 'starting'; readonly connection: Connection; readonly ready: Promise<void> }
  | ({ readonly state: 'ready' } & Greeted)
  | { readonly state: 'failed'; readonly why: string };

/** The process of a language server: it starts when it is wanted, and again when it has ended by itself. */
export function createServerLife(config: LanguageServer, parts: ServerParts, ears: LifeEars) {
  const folder = resolve(parts.folder, filled(config.folder ?? '.', parts.variables()));
  let life: Life = { state: 'idle' };
  let ends = 0;

  function wake(): void {
    if (life.state !== 'idle') return;
    const { ledger, variables, newMarker } = parts;
    const given = variables();
    const command = filled(config.command, given);
    const args = config.args.map((word) => filled(word, given));
    const own = Object.fromEntries(Object.entries(config.env).map(([name, value]) => [name, filled(value, given)]));
    const start = { command, args, cwd: folder, env: { ...given, ...own }, marker: newMarker(), ledger };
    const connection = connect(start, {
      notified: ears.notified,
      asked: (method, params) => answerServer(config, folder, method, params),
      ended: () => ended(connection),
    });
    life = { state: 'starting', connection, ready: greet(connection) };
  }

  async function greet(connection: Connection): Promise<void> {
    try {
      await connection.start();
      const params = initializeParams(config, { folder, version: parts.version });
      const result = await connection.request('initialize', params, AbortSignal.timeout(config.startMs));
      if (life.state !== 'starting') return;
      connection.notify('initialized', {});
      const { settings } = config;
      if (settings !== undefined) connection.notify('workspace/didChangeConfiguration', { settings });
      life = { state: 'ready', connection, sync: syncOf(result) };
      ears.greeted();
    } catch (thrown) {
      if (life.state !== 'starting') return;
      fail(messageOf(thrown));
      await connection.close();
    }
  }

  function fail(why: string): void {
    life = { state: 'failed', why };
    parts.tell(
      `The language server ${config.name} is not there: ${why}. Nothing is known of its files in this session.`,
    );
    ears.gone();
  }

  function ended(connection: Connection): void {
    if (life.state !== 'ready' || life.connection !== connection) return;
    ends += 1;
    life = { state: 'idle' };
    if (ends > config.mostRestarts) fail(connection.ending());
    else ears.gone();
  }

  return {
    wake,
    state: () => life.state,
    ready: (): Greeted | undefined => (life.state === 'ready' ? life : undefined),
    /** Asks it something; waits until it has started. */
    async request(method: string, params: JsonObject, signal: AbortSignal): Promise<JsonValue> {
      wake();
      if (life.state === 'starting') await life.ready;
      if (life.state !== 'ready') throw new Error(life.state === 'failed' ? life.why : 'it has ended');
      return life.connection.request(method, params, signal);
    },
    async end(): Promise<void> {
      const before = life;
      life = { state: 'closed' };
      if (before.state === 'ready') {
        const { connection } = before;
        await connection.request('shutdown', undefined, AbortSignal.timeout(config.endMs)).catch(() => undefined);
        connection.notify('exit');
      }
      if (before.state === 'ready' || before.state === 'starting') await before.connection.close();
    },
  };
}

/** `${NAME}` and `${NAME:-default}` of an entry; a name nobody has stays as it is. */
function filled(text: string, variables: Readonly<Record<string, string>>): string {
  return text.replaceAll(/\$\{(\w+)(?::-([^}]*))?\}/g, (whole, name: string, fallback?: string) => {
    const known = Object.hasOwn(variables, name) ? variables[name] : undefined;
    return known !== undefined && known !== '' ? known : (fallback ?? whole);
  });
}
