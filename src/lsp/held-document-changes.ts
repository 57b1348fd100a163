import { pathToFileURL } from 'node:url';
import { z } from 'zod';
import type { JsonObject, JsonValue } from '../contracts/json.ts';
import { parseFileUri } from '../lib/files/file-uri.ts';

/** Limit for the diagnostics of the original text, and for those of the files that use it. */
const HOLD_MS = { original: 3_000, users: 1_500 };

/** A change that waits until the server has reported on the state before it. */
type HeldChange = {
  readonly limit: ReturnType<typeof setTimeout>;
  /** Files whose diagnostics are awaited; with a timer once they have come, because more may follow. */
  readonly awaited: Map<string, ReturnType<typeof setTimeout> | undefined>;
  isLookingUp: boolean;
};

/** Functions of the language server that held changes use. */
export type HeldDocumentChangesDeps = {
  /** Returns whether the server has reported on a file. */
  readonly isReported: (path: string) => boolean;
  readonly isOpen: (path: string) => boolean;
  /** Sends a request to the server; absent if it is not asked for the users of files. */
  readonly request: ((method: string, params: JsonObject, signal: AbortSignal) => Promise<JsonValue>) | undefined;
  /** Opens a file that uses a changed one; false if it cannot. */
  readonly openUser: (path: string) => Promise<boolean>;
  /** Sends the change of a file. */
  readonly release: (path: string) => void;
};

/**
 * Creates the changes that are held back until the server has reported on the file and the files that use it as they
 * were before, so that new errors can be told from older ones.
 */
export function createHeldDocumentChanges({ isReported, isOpen, request, openUser, release }: HeldDocumentChangesDeps) {
  const held = new Map<string, HeldChange>();
  const used = new Set<string>();
  let canFindUsers = true;

  function drop(path: string): void {
    const { limit, awaited } = held.get(path) ?? {};
    clearTimeout(limit);
    for (const timer of awaited?.values() ?? []) clearTimeout(timer);
    held.delete(path);
  }

  function end(path: string): void {
    drop(path);
    release(path);
  }

  function endIfSettled(path: string): void {
    const change = held.get(path);
    if (change !== undefined && !change.isLookingUp && change.awaited.size === 0) end(path);
  }

  /** Opens the files that use a file. A server that cannot find them in time is not asked again. */
  async function awaitUsers(path: string, { awaited }: HeldChange): Promise<void> {
    if (request === undefined || !canFindUsers) return;
    const signal = AbortSignal.timeout(HOLD_MS.users);
    const users = await findFileUsers((method, params) => request(method, params, signal), path).catch(() => undefined);
    canFindUsers = users !== undefined;
    if (users === undefined || users.length === 0) return;
    used.add(path);
    const closed = users.filter((user) => !isOpen(user));
    for (const user of closed) awaited.set(user, undefined);
    await Promise.all(closed.map(async (user) => (await openUser(user)) || awaited.delete(user)));
  }

  return {
    has: (path: string) => held.has(path),
    /** Returns true when files that use this one are checked again after a change of it. */
    hasUsers: (path: string) => used.has(path),
    drop,
    hold(path: string): void {
      const limitMs = isReported(path) ? HOLD_MS.users : HOLD_MS.original;
      const limit = setTimeout(() => end(path), limitMs).unref();
      const awaited: HeldChange['awaited'] = new Map(isReported(path) ? [] : [[path, undefined]]);
      const change: HeldChange = { limit, awaited, isLookingUp: true };
      held.set(path, change);
      void awaitUsers(path, change).finally(() => {
        change.isLookingUp = false;
        if (held.get(path) === change) endIfSettled(path);
      });
    },
    /** Takes a report on a file, which is complete when no other one follows within this time. */
    handleReport(path: string, quietMs: number): void {
      for (const [changed, { awaited }] of held) {
        if (!awaited.has(path)) continue;
        clearTimeout(awaited.get(path));
        const settle = () => {
          awaited.delete(path);
          endIfSettled(changed);
        };
        awaited.set(path, setTimeout(settle, quietMs).unref());
      }
    },
  };
}

const MAX_SYMBOLS = 30;
const MAX_USERS = 20;

const position = z.object({ line: z.number(), character: z.number() });
const symbols = z.array(
  z.union([
    z.object({ selectionRange: z.object({ start: position }) }).transform(({ selectionRange }) => selectionRange.start),
    z
      .object({ location: z.object({ range: z.object({ start: position }) }) })
      .transform(({ location }) => location.range.start),
  ]),
);
const references = z.array(z.object({ uri: z.string() }).nullable().catch(null));

/** Finds files that use the top-level symbols of a file, as the server of the file knows them. */
async function findFileUsers(
  request: (method: string, params: JsonObject) => Promise<JsonValue>,
  path: string,
): Promise<readonly string[]> {
  const textDocument = { uri: pathToFileURL(path).href };
  const positions = symbols.safeParse(await request('textDocument/documentSymbol', { textDocument })).data ?? [];
  const lists = await Promise.all(
    positions.slice(0, MAX_SYMBOLS).map((start) =>
      request('textDocument/references', {
        textDocument,
        position: start,
        context: { includeDeclaration: false },
      }),
    ),
  );
  const uris = lists.flatMap((list) => references.safeParse(list).data ?? []).flatMap((found) => found?.uri ?? []);
  return [...new Set(uris)]
    .flatMap((uri) => parseFileUri(uri) ?? [])
    .filter((user) => user !== path)
    .slice(0, MAX_USERS);
}
