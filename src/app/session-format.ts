import { relative } from 'node:path';
import type { QueryDeps } from '../contracts/query.ts';
import { isPathBelow } from '../lib/files/path-style.ts';
import { formatFiles } from '../lsp/formatters.ts';
import type { Core } from './core.ts';
import type { SessionCheckpoints } from './session/checkpoints.ts';
import { listCallFiles } from './session-lsp.ts';

/** The formatting of the files that calls have changed, at the end of a turn. */
export type SessionFormat = {
  /** Wraps `afterCall` to record the files a call wrote. */
  wrapAfterCall(afterCall: QueryDeps['afterCall']): QueryDeps['afterCall'];
  /** Wraps `onStop` to format the recorded files first. What a formatter reports is objected once. */
  wrapOnStop(onStop: QueryDeps['onStop']): QueryDeps['onStop'];
};

/** Creates the formatting of a session. It runs in trusted folders, if the user has set a formatter. */
export function createSessionFormat(core: Core, checkpoints: SessionCheckpoints | undefined): SessionFormat {
  const { cwd, environment, settings, bus, trusted } = core;
  const written = new Set<string>();

  async function format(signal: AbortSignal): Promise<readonly string[]> {
    const { formatter } = settings.current();
    const files = [...written];
    written.clear();
    if (formatter === undefined || !trusted || files.length === 0) return [];
    const variables = settings.variables();
    const request = { files, formatter, folder: cwd, path: environment.path, variables };
    // Recorded like the changes of a command, so that an undo takes them back too.
    const watch = await checkpoints?.beforeCommand(files);
    const { changed, failures } = await formatFiles(request, signal).finally(() => watch?.ended('over'));
    const names = changed.map((file) => relative(cwd, file)).join(', ');
    if (names !== '') await bus.emit({ type: 'notice', level: 'info', topic: 'format', text: `Formatted ${names}.` });
    return failures;
  }

  return {
    wrapAfterCall: (afterCall) => async (request, outcome, durationMs, signal) => {
      const { writes } = outcome.isError === true ? { writes: [] } : listCallFiles(request, environment.home);
      for (const file of writes) if (isPathBelow(cwd, file)) written.add(file);
      return afterCall(request, outcome, durationMs, signal);
    },
    wrapOnStop: (onStop) => async (facts, signal) => {
      const failures = await format(signal);
      if (failures.length > 0 && !facts.stopHookActive) return { kind: 'object', words: failures.join('\n\n') };
      return onStop(facts, signal);
    },
  };
}
