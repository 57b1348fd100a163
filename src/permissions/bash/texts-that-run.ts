import { baseName } from './words.ts';

const SHELLS = /^(?:ba|z|k|mk|da|a|fi|c|tc|pw)?sh$/;
const TEXT_RUNNERS = new Set([
  'eval',
  'trap',
  'alias',
  'su',
  'runuser',
  'watch',
  'script',
  'ssh',
  'parallel',
  'npx',
  'hyperfine',
  'entr',
  'env',
  'flock',
  'tmux',
  'screen',
  'at',
  'batch',
  'expect',
  'bind',
  'complete',
  'mapfile',
  'readarray',
  'xargs',
  'make',
  'docker',
  'podman',
  'concurrently',
  'nix-shell',
  'compgen',
  'pwsh',
  'source',
  '.',
]);

/** Does a program of this name read words or its input as commands? */
export function runsTexts(name: string): boolean {
  return SHELLS.test(name) || TEXT_RUNNERS.has(name);
}

/** `find … -exec cmd`, `fd -x cmd`, `git bisect run cmd`: the word after the option starts a command. */
export function execStarts(argv: readonly string[]): readonly number[] {
  const name = baseName(argv[0] ?? '');
  const options =
    name === 'find' || name === 'gfind'
      ? ['-exec', '-execdir', '-ok', '-okdir']
      : name === 'fd' || name === 'fdfind'
        ? ['-x', '-X', '--exec', '--exec-batch']
        : name === 'git'
          ? ['run', 'exec', '--exec', '-x', 'foreach']
          : ['exec', '-e', '--'].filter((option) => option !== '-e' || /^(?:xterm|gnome-terminal|konsole)$/.test(name));
  if (
    options.length > 0 &&
    !/^(?:find|gfind|fd|fdfind|git|npm|pnpm|yarn|bun|docker|podman|kubectl|poetry|uv|pipenv|bundle|direnv|mise|asdf|rustup|conda|nix|xterm|gnome-terminal|konsole)$/.test(
      name,
    )
  )
    return [];
  return argv.flatMap((word, index) => (index > 0 && options.includes(word) ? [index + 1] : []));
}

/** Words that some program will read as a script of their own. */
export function scriptTexts(name: string, argv: readonly string[]): readonly string[] {
  if (SHELLS.test(name)) return argv.slice(1).flatMap((word) => (/^[-+]\w*$/.test(word) ? [] : [word]));
  if (name === 'eval' || name === 'ssh' || name === 'watch')
    return [argv.slice(1).join(' '), ...argv.slice(1), ...argv.slice(1).map((word) => word.replace(/^[A-Za-z]+=/, ''))];
  if (name === 'alias') return argv.slice(1).map((word) => word.replace(/^[^=]*=/, ''));
  if (name === 'env') return argv.slice(1).map((word) => word.replace(/^(?:-S|--split-string=)/, ''));
  if (Object.hasOwn(RUNNING_OPTIONS, name)) return optionTexts(RUNNING_OPTIONS[name] ?? [], argv);
  if (name === 'sed') return argv.slice(1).flatMap((word) => /(?:^|[;\n\d$/])\s*e\s+(.+)/s.exec(word)?.[1] ?? []);
  if (/^(?:vim?|nvim|view|ex)$/.test(name)) return argv.slice(1).map((word) => word.replace(/^\+?[:!\s]*!?/, ''));
  if (name === 'git') return argv.slice(1).flatMap((word) => /=!?(.*)/s.exec(word)?.[1] ?? []);
  if (TEXT_RUNNERS.has(name)) return argv.slice(1).filter((word) => /\s/.test(word));
  if (/^(?:find|fd|awk|gawk|mawk|perl|python3?|ruby|node)$/.test(name)) return argv.slice(1).flatMap(systemCalls);
  return [];
}

/** Options whose value is a command line. */
const RUNNING_OPTIONS: Readonly<Record<string, readonly string[]>> = {
  tar: ['--checkpoint-action', '--to-command', '--use-compress-program', '-I', '--info-script', '-F', '--rsh-command'],
  man: ['-P', '--pager', '-H', '--html'],
  rsync: ['-e', '--rsh', '--rsync-path'],
  scp: ['-S', '-o'],
  sftp: ['-S', '-o'],
  sort: ['--compress-program'],
  rg: ['--pre', '--hostname-bin'],
  split: ['--filter'],
  zip: ['-TT', '--unzip-command'],
};

function optionTexts(options: readonly string[], argv: readonly string[]): readonly string[] {
  return argv.flatMap((word, at) => {
    const [name = '', ...value] = word.split('=');
    const glued = options.find((option) => option.length === 2 && word.startsWith(option) && word.length > 2);
    const text = options.includes(word)
      ? argv[at + 1]
      : options.includes(name)
        ? value.join('=')
        : glued && word.slice(2);
    // `exec=command`, `ProxyCommand=command`.
    return text === undefined ? [] : [text, text.replace(/^[A-Za-z]+=/, '')];
  });
}

/** `system("rm x")` in the text of another language: a courtesy, not a promise. */
function systemCalls(text: string): readonly string[] {
  return [
    ...text.matchAll(/(?:system|exec|execSync|popen|spawn|run|qx|call|check_output)\s*\(?\s*(["'`])((?:(?!\1).)*)\1/gs),
  ].map((found) => found[2] ?? '');
}
