import { type Assignment, forEachChild, type ParsedScript, parse, type Redirect, type SyntaxNode } from 'unbash';
import type { ShellPart } from './shell-part.ts';
import { readWord } from './words.ts';
import { wrappedStarts } from './wrappers.ts';

/** A command that may run, by whatever way; `unknown` marks words nobody can read in advance. */
export type Reached = { readonly argv: readonly string[]; readonly unknown: readonly boolean[]; readonly via: string };

/** The generous reading, for denials: everything that could run, and every file a redirection names. */
export type WideReading = {
  readonly commands: readonly Reached[];
  readonly reads: readonly string[];
  readonly writes: readonly string[];
  readonly overflow: 'complete' | 'cut';
  /** Some command stands in a substitution. */
  readonly nested: 'yes' | 'no';
};

const MAX_REACHED = 4_000;
const MAX_DEPTH = 12;
const SYSTEM_PROGRAM = /^\/(?:usr\/)?(?:local\/)?s?bin\/[^/]+$/;
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

export function readWidely(script: ParsedScript, unrolled: readonly ShellPart[] = []): WideReading {
  const commands: Reached[] = [];
  const reads: string[] = [];
  const writes: string[] = [];
  const fed: string[] = [];
  const queue: { node: SyntaxNode; via: string; depth: number }[] = [{ node: script, via: '', depth: 0 }];
  let overflow: WideReading['overflow'] = 'complete';
  let nested: WideReading['nested'] = 'no';

  function reach(argv: readonly string[], unknown: readonly boolean[], via: string, depth: number): void {
    if (argv.length === 0) return;
    if (commands.length >= MAX_REACHED || depth > MAX_DEPTH) {
      overflow = 'cut';
      return;
    }
    commands.push({ argv, unknown, via });
    const name = baseName(argv[0] ?? '');
    const inner = [...wrappedStarts(argv), ...execStarts(argv)];
    for (const start of inner) reach(argv.slice(start), unknown.slice(start), name, depth + 1);
    for (const text of scriptTexts(name, argv)) readText(text, name, depth + 1);
    // A program under another name is still that program.
    if (/^(?:cp|ln|install|mv|cat|dd)$/.test(name)) {
      const programs = argv.map((word) => word.replace(/^if=/, '')).filter((word) => SYSTEM_PROGRAM.test(word));
      for (const program of programs) commands.push({ argv: [program], unknown: [false], via: name });
    }
  }

  function readText(text: string, via: string, depth: number): void {
    if (depth > MAX_DEPTH) {
      overflow = 'cut';
      return;
    }
    if (text.trim() !== '') queue.push({ node: parse(text), via, depth });
  }

  function visit(node: SyntaxNode, via: string, depth: number): void {
    if (depth > MAX_DEPTH * 8) {
      overflow = 'cut';
      return;
    }
    if (node.type === 'Command') {
      const words = [node.name, ...node.args].filter((word) => word !== undefined);
      const read = words.map((word) =>
        word.type === 'Assignment' ? { text: assigned(word), kind: 'literal' } : readWord(word),
      );
      const argv = read.map((word) => word.text);
      reach(
        argv,
        read.map((word) => word.kind !== 'literal'),
        via,
        0,
      );
    }
    if (node.type === 'CommandExpansion') nested = 'yes';
    if (node.type === 'Redirect') readRedirect(node);
    if (node.type === 'Pipeline') readFed(node, via);
    if (node.type === 'HereDocBody') fed.push(node.text);
    if (node.type === 'HereString' && node.target !== undefined) fed.push(readWord(node.target).text);
    forEachChild(node, (child) => visit(child, via, depth + 1));
  }

  /** `echo 'rm x' | sh`: what is printed into a shell is read as its script. */
  function readFed(node: Extract<SyntaxNode, { type: 'Pipeline' }>, via: string): void {
    const simple = node.commands.map((command) =>
      command.type === 'Command' && command.name !== undefined
        ? [command.name, ...command.args].map((word) => (word.type === 'Assignment' ? word.text : readWord(word).text))
        : [],
    );
    const run = simple
      .slice(1)
      .some((argv) => argv.some((word) => SHELLS.test(baseName(word)) || TEXT_RUNNERS.has(baseName(word))));
    if (!run) return;
    for (const argv of simple.slice(0, -1)) {
      if (/^(?:echo|printf|cat)$/.test(baseName(argv[0] ?? ''))) readText(argv.slice(1).join(' '), via || 'pipe', 1);
    }
  }

  function readRedirect(redirect: Redirect): void {
    if (redirect.target === undefined) return;
    const text = readWord(redirect.target).text;
    if ((redirect.operator === '>&' || redirect.operator === '<&') && /^(?:\d+-?|-)$/.test(text)) return;
    if (redirect.operator !== '<' && redirect.operator !== '<&') writes.push(text);
    if (redirect.operator === '<' || redirect.operator === '<>' || redirect.operator === '<&') reads.push(text);
  }

  function drain(): void {
    for (let next = queue.shift(); next !== undefined; next = queue.shift()) {
      if (commands.length >= MAX_REACHED) overflow = 'cut';
      else visit(next.node, next.via, next.depth);
    }
  }

  for (const { argv, redirects } of unrolled) {
    const words = argv.map((word) => word.text);
    reach(
      words,
      argv.map((word) => word.kind !== 'literal'),
      '',
      0,
    );
    for (const { use, target } of redirects) {
      if (use !== 'write') reads.push(target.text);
      if (use !== 'read') writes.push(target.text);
    }
  }
  drain();
  // A here-document is data, unless something on the line may run it.
  if (commands.some(({ argv }) => SHELLS.test(baseName(argv[0] ?? '')) || TEXT_RUNNERS.has(baseName(argv[0] ?? '')))) {
    for (const text of fed.splice(0)) readText(text, 'here-document', 2);
    drain();
  }
  return { commands, reads, writes, overflow, nested };
}

function assigned(word: Assignment): string {
  return word.value.type === 'Word' ? `${word.name}=${readWord(word.value).text}` : word.text;
}

export function baseName(word: string): string {
  return word.replace(/^.*\//, '');
}

/** `find … -exec cmd`, `fd -x cmd`, `git bisect run cmd`: the word after the option starts a command. */
function execStarts(argv: readonly string[]): readonly number[] {
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
function scriptTexts(name: string, argv: readonly string[]): readonly string[] {
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
