import { relative, sep } from 'node:path';
import type { SessionRecordBody } from '../../contracts/session.ts';
import { findRepositoryRoot } from '../../git/git-repository.ts';
import { isPathBelow } from '../../lib/files/path-style.ts';
import { formatBytes } from '../../lib/text/format.ts';
import { getWorktreesFolder } from '../paths.ts';
import type { RecentSessionRecords } from '../records/read-transcript.ts';
import type { RebuiltSession } from '../records/rebuild-session.ts';
import { SESSION_SCHEMA_VERSION } from '../records/session-record-writer.ts';
import { listTasksEndedWithRun } from './earlier-run.ts';

type SessionFacts = { readonly id: string; readonly cwd: string };

/** A session that was read for a resume, and the circumstances of the resume. */
export type ResumeFacts = {
  readonly summary: SessionFacts;
  readonly realCwd: string;
  /** The reason why the session was forked without a request. */
  readonly notice: string | undefined;
  readonly isOpenElsewhere: boolean;
  readonly readable: RecentSessionRecords;
  readonly hasUnsealedPermissions: boolean;
  readonly rebuilt: RebuiltSession;
};

/** The news for the model, the warnings for the user, and the records of commands that are ended now. */
export type ResumeDescription = {
  readonly news: readonly string[];
  readonly warnings: readonly string[];
  readonly ended: readonly SessionRecordBody[];
};

/** Describes how the last run of a session ended, and what is lost or differs in this one. */
export function describeResume(facts: ResumeFacts): ResumeDescription {
  const { summary, realCwd, notice, isOpenElsewhere, readable, hasUnsealedPermissions, rebuilt } = facts;
  // In a session that is open elsewhere, background work is still running.
  const { left, ended } = isOpenElsewhere ? { left: [], ended: [] } : describeKilledCommands(rebuilt);
  const news = isOpenElsewhere ? left : [...left, ...describeEndedWork(listTasksEndedWithRun(readable.records))];
  const warnings = [
    ...news,
    ...describeWorktree(summary, realCwd),
    ...(notice === undefined ? [] : [notice]),
    ...(hasUnsealedPermissions ? [NOT_SEALED] : []),
    ...describeOmittedPart(readable),
    ...describeDamage(readable),
    ...describeNewerVersion(readable),
  ];
  return { news, warnings, ended };
}

const NOT_SEALED =
  'The session file has permissions, folders or a mode that this ouro did not write there. They are not restored: answer again when you are asked.';

/** Names the way back to the worktree of a session that is resumed elsewhere. */
function describeWorktree({ id, cwd }: SessionFacts, realCwd: string): readonly string[] {
  const worktrees = getWorktreesFolder(findRepositoryRoot(realCwd));
  const [folder = ''] = relative(worktrees, cwd).split(sep);
  if (folder === '' || !isPathBelow(worktrees, cwd)) return [];
  return [`This session worked in the worktree ${cwd}. To continue there: ouro -w ${folder} -r ${id}`];
}

function describeOmittedPart({ omittedBytes }: RecentSessionRecords): readonly string[] {
  if (omittedBytes === 0) return [];
  return [
    `This session is too long to send. It continues with its end and your earlier prompts; the other ${formatBytes(omittedBytes)} stay in the file.`,
  ];
}

function describeDamage({ damaged, salvaged, doubled }: RecentSessionRecords): readonly string[] {
  const counts = [
    ...(damaged > 0 ? [`${damaged} unreadable`] : []),
    ...(salvaged > 0 ? [`${salvaged} repaired`] : []),
    ...(doubled > 0 ? [`${doubled} duplicate`] : []),
  ];
  if (counts.length === 0) return [];
  return [`The session file was damaged. Lines: ${counts.join(', ')}. The rest is intact.`];
}

/** Warns about records of a newer version: unknown records are ignored, but kept in the file. */
function describeNewerVersion({ records }: RecentSessionRecords): readonly string[] {
  const newer = records.find(({ v }) => v > SESSION_SCHEMA_VERSION);
  if (newer === undefined) return [];
  return [
    `A newer ouro (${newer.version}) has written to this session. Unknown records are ignored and kept in the file.`,
  ];
}

const MAX_LISTED = 5;

/** Describes background work that ended with the last process. */
function describeEndedWork(titles: readonly string[]): readonly string[] {
  return titles.length === 0 ? [] : [`Ended with the last run of this session: ${listTitles(titles)}.`];
}

function listTitles(titles: readonly string[]): string {
  const more = titles.length > MAX_LISTED ? ` and ${titles.length - MAX_LISTED} more` : '';
  return `${titles.slice(0, MAX_LISTED).join('; ')}${more}`;
}

/** Describes commands that a killed process left running; they are ended before the first prompt. */
function describeKilledCommands({ runningCommands }: RebuiltSession): {
  readonly left: readonly string[];
  readonly ended: readonly SessionRecordBody[];
} {
  if (runningCommands.size === 0) return { left: [], ended: [] };
  const commands = [...new Set(runningCommands.values())].map((command) => command.split('\n', 1)[0] ?? '');
  return {
    left: [`Still running when the last run of this session was killed, and ended now: ${listTitles(commands)}.`],
    ended: [...runningCommands.keys()].map((pgid) => ({ type: 'child', phase: 'ended', pgid, detail: {} })),
  };
}
