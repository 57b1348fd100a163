/** What was the case when the session began. Later changes are told as attachments. */
export type Environment = {
  readonly cwd: string;
  readonly additionalDirectories: readonly string[];
  readonly platform: string;
  readonly osRelease?: string;
  readonly shell?: string;
  /** Local date, `2026-11-21`. */
  readonly date: string;
  readonly git: GitSnapshot | undefined;
};

/** A look at the repository, taken once. */
export type GitSnapshot = {
  readonly branch: string | undefined;
  /** Lines of a short status. */
  readonly changes: readonly string[];
  /** Newest first: `abc1234 Subject`. */
  readonly commits: readonly string[];
};

const MAX_CHANGES = 30;
const MAX_COMMITS = 5;
const MAX_LINE_CHARS = 160;

/** The facts about place and time, as the model reads them. */
export function renderEnvironment(environment: Environment): string {
  const { cwd, additionalDirectories, platform, osRelease, shell, date, git } = environment;
  return [
    '# Environment at the start of the session',
    `Working directory: ${plain(cwd)}`,
    ...(additionalDirectories.length === 0 ? [] : [`Also open to you: ${additionalDirectories.map(plain).join(', ')}`]),
    `Platform: ${plain([platform, osRelease].filter((word) => word !== undefined).join(' '))}`,
    ...(shell === undefined ? [] : [`Shell: ${plain(shell)}`]),
    `Date: ${date}`,
    ...(git === undefined ? ['Not a git repository'] : gitLines(git)),
  ].join('\n');
}

/** The state of a repository, line by line. */
export function gitLines({ branch, changes, commits }: GitSnapshot): readonly string[] {
  const hidden = changes.length - MAX_CHANGES;
  return [
    `Git branch: ${branch === undefined ? '(none checked out)' : plain(branch)}`,
    changes.length === 0 ? 'Git status: clean' : 'Git status:',
    ...changes.slice(0, MAX_CHANGES).map((line) => `  ${plain(line)}`),
    ...(hidden > 0 ? [`  and ${hidden} more`] : []),
    ...(commits.length === 0 ? [] : ['Recent commits:']),
    ...commits.slice(0, MAX_COMMITS).map((line) => `  ${plain(line)}`),
  ];
}

/** Names and subjects were written by anybody: one line each, no control characters, not too long. */
export function plain(text: string): string {
  const line = text.replace(/[\u0000-\u001f\u007f-\u009f\u2028\u2029]+/g, ' ').toWellFormed();
  return line.length > MAX_LINE_CHARS ? `${line.slice(0, MAX_LINE_CHARS).toWellFormed()}…` : line;
}
