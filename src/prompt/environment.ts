import type { GitSnapshot } from '../contracts/git-snapshot.ts';
import { oneLine } from '../lib/text/one-line.ts';

/** What was the case when the session began. Later changes are told as attachments. */
export type PromptEnvironment = {
  readonly cwd: string;
  readonly additionalDirectories: readonly string[];
  readonly platform: string;
  readonly osRelease?: string;
  readonly shell?: string;
  /** Local date, `2026-11-21`. */
  readonly date: string;
  readonly git: GitSnapshot | undefined;
};

const MAX_CHANGES = 30;
const MAX_COMMITS = 5;

/** The facts about place and time, as the model reads them. */
export function renderEnvironment(environment: PromptEnvironment): string {
  const { cwd, additionalDirectories, platform, osRelease, shell, date, git } = environment;
  return [
    '# Environment at the start of the session',
    `Working directory: ${oneLine(cwd)}`,
    ...(additionalDirectories.length === 0
      ? []
      : [`Also open to you: ${additionalDirectories.map(oneLine).join(', ')}`]),
    `Platform: ${oneLine([platform, osRelease].filter((word) => word !== undefined).join(' '))}`,
    ...(shell === undefined ? [] : [`Shell: ${oneLine(shell)}`]),
    `Date: ${date}`,
    ...(git === undefined ? ['Not a git repository'] : gitLines(git)),
  ].join('\n');
}

/** The state of a repository, line by line. */
export function gitLines({ branch, changes, commits }: GitSnapshot): readonly string[] {
  const hidden = changes.length - MAX_CHANGES;
  return [
    `Git branch: ${branch === undefined ? '(none checked out)' : oneLine(branch)}`,
    changes.length === 0 ? 'Git status: clean' : 'Git status:',
    ...changes.slice(0, MAX_CHANGES).map((line) => `  ${oneLine(line)}`),
    ...(hidden > 0 ? [`  and ${hidden} more`] : []),
    ...(commits.length === 0 ? [] : ['Recent commits:']),
    ...commits.slice(0, MAX_COMMITS).map((line) => `  ${oneLine(line)}`),
  ];
}
