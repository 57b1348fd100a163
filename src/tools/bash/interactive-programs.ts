import type { ShellAnalysis } from '../../contracts/shell-analysis.ts';
import { createLazy } from '../../lib/memoize.ts';
import { collectShellEffects } from '../../permissions/shell/effects/collect-shell-effects.ts';
import { getProgramBaseName } from '../../permissions/shell/parse/shell-words.ts';

type Args = readonly string[];

/** Returns what to do in place of a call of a program that waits for a keyboard; `undefined` for any other call. */
type Advise = (args: Args, line: string) => string | undefined;

const always =
  (advice: string): Advise =>
  () =>
    advice;

/** Gives advice unless an option is there that keeps the program from asking. */
const unless =
  (pattern: RegExp, advice: string): Advise =>
  (args) =>
    args.some((arg) => pattern.test(arg)) ? undefined : advice;

/** Gives advice if an option is there that makes the program ask. */
const when =
  (pattern: RegExp, advice: string): Advise =>
  (args) =>
    args.some((arg) => pattern.test(arg)) ? advice : undefined;

const EDIT = 'Change files with Edit or Write.';
const READ = 'Show files with Read, or with cat.';

const EDITORS = ['vi', 'nano', 'pico', 'micro', 'hx', 'helix', 'joe', 'mcedit', 'kak', 'gedit'];
const PAGERS = ['less', 'more', 'most'];
const SCREENS = ['htop', 'btop', 'tig', 'lazygit', 'lazydocker', 'ranger', 'mc', 'nnn', 'fzf', 'dialog', 'whiptail'];

const listPrograms = createLazy(
  (): Readonly<Record<string, Advise>> => ({
    ...Object.fromEntries(EDITORS.map((name) => [name, always(EDIT)])),
    ...Object.fromEntries(PAGERS.map((name) => [name, unless(/^--?(?:version|help)$/, READ)])),
    ...Object.fromEntries(SCREENS.map((name) => [name, unless(/^-/, 'It draws a screen; use a program that prints.')])),
    vim: unless(/^-(?:[eE]s|es|s|-version|-headless)$/, `${EDIT} A script runs with vim -es.`),
    nvim: unless(/^-(?:[eE]s|-headless|-version|l)$/, `${EDIT} A script runs with nvim --headless.`),
    emacs: unless(/^--?(?:batch|script|version)$/, `${EDIT} A script runs with emacs --batch.`),
    top: unless(/^-\w*[bl]/, 'Use top -b -n 1.'),
    watch: unless(/^--?(?:v|version|h|help)$/, 'Run the command once, or in a loop with run_in_background.'),
    npm: adviseInit('npm'),
    yarn: adviseInit('yarn'),
    crontab: when(/^-e$/, 'Use crontab -l, then crontab with a file.'),
    visudo: always('Write a file and check it with visudo -c.'),
    'ssh-keygen': (args) =>
      args.some((arg) => /^-[Nlyeip]/.test(arg)) ? undefined : "Use ssh-keygen -N '' -f <file>.",
    aws: ([first, second]) =>
      first === 'configure' && (second === undefined || second === 'sso')
        ? 'Use aws configure set <key> <value>.'
        : undefined,
    gh: (args) =>
      args[0] === 'auth' && args[1] === 'login' && !args.includes('--with-token')
        ? 'Use gh auth login --with-token, or let the user log in.'
        : undefined,
    kubectl: ([first]) => (first === 'edit' ? 'Use kubectl patch or kubectl apply -f.' : undefined),
    systemctl: (args) =>
      args[0] === 'edit' && !args.includes('--stdin')
        ? 'Write the drop-in file, then systemctl daemon-reload.'
        : undefined,
    docker: (args) =>
      /^(?:run|exec)$/.test(args[0] ?? '') &&
      args.some((arg) => /^-[a-su-z\dA-Z_]*t\w*$|^--tty$/.test(arg) && !arg.startsWith('--t='))
        ? 'Leave out -t: there is no terminal.'
        : undefined,
    git: adviseGit,
  }),
);

function adviseInit(program: string): Advise {
  return (args) => {
    const isBare = args[0] === 'init' && args.slice(1).every((arg) => arg.startsWith('-'));
    return isBare && !args.some((arg) => /^(?:-y|--yes|-h|--help|-f|--force|-[a-xz]*y[a-z]*)$/.test(arg))
      ? `Use ${program} init -y.`
      : undefined;
  };
}

const GIT_PATCH = 'Stage whole files by name, or write the part to a patch and use git apply --cached.';

function adviseGit(args: Args, line: string): string | undefined {
  const at = args.findIndex((arg, index) => !arg.startsWith('-') && !/^-[cC]$/.test(args[index - 1] ?? ''));
  const [subcommand = '', ...rest] = args.slice(at === -1 ? args.length : at);
  const has = (pattern: RegExp) => rest.some((arg) => pattern.test(arg));
  switch (subcommand) {
    case 'add':
    case 'stage':
      return has(/^(?:-[a-df-hj-oq-zA-Z]*[pie][a-zA-Z]*|--patch|--interactive|--edit)$/) ? GIT_PATCH : undefined;
    case 'checkout':
    case 'restore':
    case 'reset':
    case 'stash':
      return has(/^(?:-p|--patch)$/) ? 'Name whole files in place of -p.' : undefined;
    case 'commit':
      if (has(/^(?:-p|--patch|--interactive)$/)) return GIT_PATCH;
      return has(
        /^(?:-[a-gi-ln-su-zABDEG-Z]*[mFCth].*|--(?:message|file|reuse-message|fixup|no-edit|amend|template|help|dry-run)(?:=.*)?)$/,
      )
        ? undefined
        : 'Give the message: git commit -m "…".';
    case 'rebase':
      return has(/^(?:-i|--interactive)$/) && !/GIT_SEQUENCE_EDITOR|sequence\.editor/.test(line)
        ? 'Set GIT_SEQUENCE_EDITOR to a command that edits the list: GIT_SEQUENCE_EDITOR="sed -i \'2s/^pick/squash/\'" git rebase -i …'
        : undefined;
    case 'clean':
      return has(/^(?:-i|--interactive)$/) ? 'Use git clean -n to look, and -f with paths.' : undefined;
    case 'config':
      return has(/^(?:-e|--edit)$/) ? 'Use git config <key> <value>.' : undefined;
    case 'mergetool':
    case 'difftool':
      return 'Resolve conflicts with Edit; show differences with git diff.';
    default:
      return undefined;
  }
}

/** Shells of languages; they wait for lines unless they get code. */
const REPLS: Readonly<Record<string, string>> = {
  python: 'python -c',
  python3: 'python3 -c',
  ipython: 'ipython -c',
  node: 'node -e',
  bun: 'bun -e',
  deno: 'deno eval',
  irb: 'ruby -e',
  php: 'php -r',
  lua: 'lua -e',
  R: 'Rscript -e',
  ghci: 'ghc -e',
  psql: 'psql -c',
  mysql: 'mysql -e',
  sqlite3: 'sqlite3 <file> "<query>"',
  'redis-cli': 'redis-cli <command>',
  mongosh: 'mongosh --eval',
  bash: 'bash -c',
  sh: 'sh -c',
  zsh: 'zsh -c',
};

const getNamePattern = createLazy(
  () => new RegExp(`(?:^|[^\\w.-])(?:${[...Object.keys(listPrograms()), ...Object.keys(REPLS)].join('|')})(?![\\w-])`),
);

/** Returns why a command line would wait for a keyboard, and what to do in its place. */
export function findInteractiveProgram({ command, parse }: ShellAnalysis): string | undefined {
  // Most commands need no analysis.
  if (!getNamePattern().test(command)) return undefined;
  const line = command.trim();
  const [, alone = '', flag] = /^(\S+)(?:\s+(-i|repl))?$/.exec(line) ?? [];
  const repl = Object.hasOwn(REPLS, getProgramBaseName(alone)) ? REPLS[getProgramBaseName(alone)] : undefined;
  if (repl !== undefined && (flag !== 'repl' || /^(?:bun|deno)$/.test(alone)))
    return describe(getProgramBaseName(alone), `Give it code: ${repl} "…", a file, or a here-document.`);
  for (const { argv } of collectShellEffects(parse(command), parse).commands) {
    const [program = '', ...args] = argv;
    const name = getProgramBaseName(program);
    const advice = Object.hasOwn(listPrograms(), name) ? listPrograms()[name]?.(args, line) : undefined;
    if (advice !== undefined) return describe([name, ...args.slice(0, 2)].join(' '), advice);
  }
  return undefined;
}

function describe(program: string, advice: string): string {
  return `${program} would wait for a keyboard, and there is none; nothing was run. ${advice}`;
}
