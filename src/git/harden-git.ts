const OVERRIDES: readonly (readonly [string, string])[] = [
  ['core.fsmonitor', 'false'],
  ['core.hooksPath', '/dev/null'],
  ['core.pager', 'cat'],
  // A look into a submodule is a git of its own, with the submodule's configuration.
  ['diff.ignoreSubmodules', 'dirty'],
  ['safe.bareRepository', 'explicit'],
  // Signatures are checked by another program, merges are made again by drivers.
  ['log.showSignature', 'false'],
  ['log.diffMerges', 'separate'],
];

const DIFFING = new Set([
  'diff',
  'log',
  'show',
  'blame',
  'stash',
  'format-patch',
  'diff-tree',
  'diff-index',
  'diff-files',
]);

/** Arguments for a git of our own: no helper program of the repository runs. Sub-command first. */
export function hardenGit(args: readonly string[]): readonly string[] {
  const [name = '', ...rest] = args;
  const flags =
    DIFFING.has(name) && name !== 'blame'
      ? ['--no-ext-diff', '--no-textconv']
      : name === 'blame'
        ? ['--no-textconv']
        : [];
  return [...OVERRIDES.flatMap(([key, value]) => ['-c', `${key}=${value}`]), name, ...flags, ...rest];
}

/** The environment for a command line that runs unasked and may hold git: all other GIT_* must be removed first. */
export function hardenedGitEnvironment(): Readonly<Record<string, string>> {
  const pairs = OVERRIDES.flatMap(([key, value], index) => [
    [`GIT_CONFIG_KEY_${index}`, key] as const,
    [`GIT_CONFIG_VALUE_${index}`, value] as const,
  ]);
  return {
    ...Object.fromEntries(pairs),
    GIT_CONFIG_COUNT: String(OVERRIDES.length),
    GIT_OPTIONAL_LOCKS: '0',
    GIT_TERMINAL_PROMPT: '0',
    GIT_PAGER: 'cat',
    PAGER: 'cat',
  };
}
