import { deferred } from '../lib/deferred.ts';
import type { RunningServer } from './language-server.ts';

/** How long news are waited for, and how long nothing may come until they count as complete. */
export type Patience = { readonly mostMs: number; readonly hurriedMs: number; readonly quietMs: number };

/** `hurriedMs` is for servers that owe an answer from before. */
const PATIENCE: Patience = { mostMs: 3_000, hurriedMs: 400, quietMs: 120 };

/** Waits for what servers say of files. */
export function createAnswers(running: () => readonly RunningServer[], patience = PATIENCE) {
  /** What servers had not answered when they were last waited for. */
  const owed = new Map<RunningServer, { readonly path: string; readonly version: number }>();
  const ears = new Set<() => void>();

  /** It is busy with something else, so that waiting long is in vain. */
  function stillOwes(server: RunningServer): boolean {
    const what = owed.get(server);
    return what !== undefined && (server.known().get(what.path)?.version ?? -1) < what.version;
  }

  return {
    /** A server has said something. */
    heard(): void {
      for (const ear of ears) ear();
    },
    /** Resolves when every server has said what it thinks of these files and has been quiet for a moment, or at last. */
    async of(paths: readonly string[], signal: AbortSignal): Promise<void> {
      const open = () => running().filter((server) => !paths.every(server.hasAnswered));
      const { promise, resolve } = deferred<void>();
      const limit = setTimeout(resolve, open().every(stillOwes) ? patience.hurriedMs : patience.mostMs);
      let quiet: ReturnType<typeof setTimeout> | undefined;
      const look = () => {
        clearTimeout(quiet);
        if (open().length === 0) quiet = setTimeout(resolve, patience.quietMs);
      };
      ears.add(look);
      signal.addEventListener('abort', () => resolve(), { once: true });
      if (signal.aborted) resolve();
      look();
      await promise;
      clearTimeout(limit);
      clearTimeout(quiet);
      ears.delete(look);
      for (const server of open()) {
        const path = paths.find((one) => !server.hasAnswered(one)) ?? '';
        owed.set(server, { path, version: server.opened().get(path)?.version ?? 0 });
      }
    },
  };
}
