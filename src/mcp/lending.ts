import type { Tool } from '../contracts/tool.ts';
import { untilAborted } from '../lib/abort.ts';
import type { ServerRun } from './server/server-run.ts';

/** Servers that somebody has for as long as he works. */
export type Lent = {
  readonly tools: readonly Tool[];
  /** He needs them no longer; whoever is needed by nobody ends. */
  giveBack(): Promise<void>;
};

/** Servers in the heads of sub-agents run while one that has them works. */
export function createLending(runOf: (name: string) => ServerRun | undefined) {
  const needed = new Map<ServerRun, number>();

  return async (names: readonly string[], signal: AbortSignal): Promise<Lent> => {
    const runs = names.flatMap((name) => runOf(name) ?? []).filter(({ server }) => server.isLent === true);
    for (const run of runs) {
      needed.set(run, (needed.get(run) ?? 0) + 1);
      run.start();
    }
    await untilAborted(Promise.all(runs.map((run) => run.listed('tools'))), signal);
    return {
      tools: runs.flatMap((run) => run.now().catalog.tools),
      async giveBack() {
        const idle = runs.filter((run) => {
          const left = (needed.get(run) ?? 1) - 1;
          needed.set(run, left);
          return left === 0;
        });
        await Promise.all(idle.map((run) => run.rest()));
      },
    };
  };
}
