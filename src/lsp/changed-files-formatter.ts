import { relative } from 'node:path';
import type { Feature } from '../contracts/feature.ts';
import type { SessionCore } from '../contracts/session-core.ts';
import type { FileLocks } from '../lib/files/file-locks.ts';
import { isPathBelow } from '../lib/files/path-style.ts';
import { omitUndefined } from '../lib/json.ts';
import type { ProgramCheck, ProgramStart } from '../lib/processes/program-check.ts';
import { describeUnseenChanges } from '../tools/files/disk-changes.ts';
import type { FileReadState } from '../tools/files/file-read-state.ts';
import { listTouchedFiles } from '../tools/touched-files.ts';
import { type FileCheckerKind, runFormattersOrLinters } from './run-formatters-and-linters.ts';

/** The linting and formatting of the files that calls have changed, at the end of a turn. */
export type ChangedFilesFormatter = {
  /** Checks the recorded files before the end. What is reported is objected once, with what was fixed. */
  readonly conversation: Feature;
  /** Records the files that the calls of a sub-agent wrote. */
  readonly subAgent: Feature;
};

type TurnEndDeps = {
  readonly checkProgram: ProgramCheck;
  /** Records what the programs change, so that an undo takes it back; absent if the session is not stored. */
  readonly checkpoints:
    | { beforeCommand(files: readonly string[]): Promise<{ ended(state: 'over'): Promise<void> }> }
    | undefined;
  readonly readState: FileReadState;
};

/** A formatter or linter as the settings have it. */
type Checker = { readonly command: string; readonly sandbox?: ProgramStart['sandbox'] | undefined };

const toChecker = (setting: string | Checker): Checker =>
  typeof setting === 'string' ? { command: setting } : setting;

/** Creates the linting and formatting of a session. It runs in trusted folders, if the user has set a program. */
export function createChangedFilesFormatter(
  core: SessionCore & { readonly locks: FileLocks },
  { checkpoints, readState, checkProgram }: TurnEndDeps,
): ChangedFilesFormatter {
  const { cwd, environment, settings, bus, trusted, locks } = core;
  const written = new Set<string>();

  /** Runs the linter first: what it fixes is formatted, too. */
  async function check(signal: AbortSignal): Promise<readonly string[]> {
    const { formatter, linter } = settings.current();
    const files = [...written];
    written.clear();
    const reports = [];
    if (linter !== undefined) reports.push(...(await run('linter', toChecker(linter), files, signal)));
    if (formatter !== undefined) reports.push(...(await run('formatter', toChecker(formatter), files, signal)));
    return reports;
  }

  async function run(
    kind: FileCheckerKind,
    { command: setting, sandbox }: Checker,
    files: readonly string[],
    signal: AbortSignal,
  ): Promise<readonly string[]> {
    if (!trusted || files.length === 0) return [];
    const usesProjectPrograms = settings.current().projectPrograms === true;
    const { path } = environment;
    const request = {
      files,
      kind,
      setting,
      folder: cwd,
      path,
      usesProjectPrograms,
      variables: settings.variables(),
      checkProgram,
      ...omitUndefined({ sandbox }),
    };
    // Recorded like the changes of a command, so that an undo takes them back too.
    const watch = await checkpoints?.beforeCommand(files);
    const { changed, reports } = await runFormattersOrLinters(request, locks, signal).finally(() =>
      watch?.ended('over'),
    );
    const names = changed.map((file) => relative(cwd, file)).join(', ');
    const text = `${kind === 'formatter' ? 'Formatted' : 'The linter fixed'} ${names}.`;
    if (names !== '') await bus.emit({ type: 'notice', level: 'info', topic: 'format', text });
    return reports;
  }

  const recorder: Feature = {
    name: 'formatter',
    async afterCall(request, outcome) {
      if (outcome.isError === true) return {};
      const { writes } = listTouchedFiles(request, { cwd: request.cwd, home: environment.home });
      for (const file of writes) if (isPathBelow(cwd, file)) written.add(file);
      return {};
    },
  };
  const conversation: Feature = {
    ...recorder,
    async onStop({ stopHookActive }, signal) {
      const reports = await check(signal);
      if (reports.length === 0 || stopHookActive) return { kind: 'pass' };
      // The next request has no results of calls, and so no reminders.
      return { kind: 'reject', words: [...reports, ...(await describeUnseenChanges(readState))].join('\n\n') };
    },
  };
  return { conversation, subAgent: recorder };
}
