import { getErrorMessage } from '../../lib/errors.ts';
import { resolveUndefinedOnAbort } from '../../lib/promises.ts';
import { sanitizeUntrustedLine } from '../../lib/text/sanitize.ts';
import type { McpListKind } from './create-mcp-client.ts';
import type { McpHubDeps } from './hub-deps.ts';
import type { McpServerCatalog } from './mcp-server-catalog.ts';
import type { McpServerConnection } from './mcp-server-connection.ts';
import type { McpStateMachine } from './mcp-state-machine.ts';

type FetchList = (connection: McpServerConnection) => Promise<Partial<McpServerCatalog>>;

/** The updates of a connected server's lists: late first lists, and lists that changed. */
export type McpListUpdates = {
  /** Fetches a list after earlier updates of the same kind, so the server's latest list wins. */
  fetch(kind: McpListKind, fetchList: FetchList, signal: AbortSignal): void;
  /** Fetches a changed list: once for a burst of changes, and at most once per interval. */
  refetch(kind: McpListKind, fetchList: FetchList, signal: AbortSignal): void;
  /** Resolves when the latest update of this kind has ended. */
  whenFetched(kind: McpListKind): Promise<void>;
};

const REASON_CHARS = 300;
const MIN_LIST_INTERVAL_MS = 500;

/** Creates the updates of a server's lists. */
export function createMcpListUpdates(
  server: string,
  { getState, dispatch, notify }: McpStateMachine,
  onChange: McpHubDeps['onChange'],
): McpListUpdates {
  const done = Promise.resolve();
  let updates: Readonly<Record<McpListKind, Promise<void>>> = { tools: done, prompts: done, resources: done };

  async function update(kind: McpListKind, fetchList: FetchList, signal: AbortSignal): Promise<void> {
    const { phase } = getState();
    if (signal.aborted || phase.status !== 'connected') return;
    try {
      const lists = await fetchList(phase.connection);
      if (signal.aborted) return;
      dispatch({ type: 'listed', lists });
      if (kind !== 'tools') onChange({ kind, server });
    } catch (thrown) {
      notify('warn', `could not list its ${kind}: ${sanitizeUntrustedLine(getErrorMessage(thrown), REASON_CHARS)}`);
    }
  }

  /** Kinds with a scheduled update, which also covers further changes until it starts. */
  let scheduled: readonly McpListKind[] = [];
  let cooldowns: Readonly<Record<McpListKind, Promise<unknown>>> = updates;
  const waitInterval = (signal: AbortSignal) =>
    resolveUndefinedOnAbort(new Promise((resolve) => setTimeout(resolve, MIN_LIST_INTERVAL_MS)), signal);

  return {
    fetch(kind, fetchList, signal) {
      updates = { ...updates, [kind]: updates[kind].then(() => update(kind, fetchList, signal)) };
    },
    refetch(kind, fetchList, signal) {
      if (scheduled.includes(kind)) return;
      scheduled = [...scheduled, kind];
      const updated = Promise.all([updates[kind], cooldowns[kind]]).then(() => {
        scheduled = scheduled.filter((other) => other !== kind);
        const running = update(kind, fetchList, signal);
        cooldowns = { ...cooldowns, [kind]: running.then(() => waitInterval(signal)) };
        return running;
      });
      updates = { ...updates, [kind]: updated };
    },
    whenFetched: (kind) => updates[kind],
  };
}
