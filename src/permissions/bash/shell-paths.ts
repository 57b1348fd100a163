import { type DecisionContext, resolveIn } from '../paths/context.ts';
import { expandGlob } from '../paths/folder-scan.ts';
import type { ResolvedPath } from '../paths/paths.ts';
import { type SearchScope, SILENT, searchScopes } from './read/search-scope.ts';
import type { Reached, WideReading } from './wide.ts';
import { baseName } from './words.ts';
import { writtenWords } from './write-words.ts';

/** A file some command names. `certain`: it will be used so; `possible`: the word may be a file name. */
export type NamedPath = {
  readonly path: ResolvedPath;
  readonly sure: 'certain' | 'possible';
  readonly command: string;
};

/** A folder that is read to the bottom, but for what its command leaves out. */
export type SearchedPath = NamedPath & Pick<SearchScope, 'use' | 'only' | 'skips'>;

export type ShellPaths = {
  readonly reads: readonly NamedPath[];
  readonly writes: readonly NamedPath[];
  /** Folders read to the bottom. */
  readonly searches: readonly SearchedPath[];
  /** What a recursive delete would take. */
  readonly deletes: readonly NamedPath[];
  /** More files are named than were looked at. */
  readonly overflow: 'complete' | 'cut';
};

const READERS =
  /^(?:cat|tac|head|tail|less|more|nl|grep|egrep|fgrep|rg|ag|ack|sed|awk|gawk|wc|sort|uniq|cut|paste|join|comm|diff|cmp|od|xxd|hexdump|strings|base64|base32|jq|yq|bat|batcat|view|file|md5sum|sha\d+sum|source|\.)$/;
const PATTERN_FIRST = /^(?:grep|egrep|fgrep|rg|ag|ack|sed|awk|gawk|jq|yq)$/;
/** Names of files in the text of another language: a courtesy, not a promise. */
const CODE_RUNNERS = /^(?:python[\d.]*|node|nodejs|deno|bun|perl|ruby|php|lua)$/;
const SELECTING = /^-(?:i?name|i?path|i?regex|wholename|newer\w*|mtime|mmin|empty|size)$/;
const LEAVING_OUT = /^--(?:exclude|include|i?glob|ignore)(?:-\w+)?=/;
const MAX_PATHS = 2_000;
const MAX_SEARCHES = 60;
const MAX_MOVES = 6;
const MAX_BRACED = 64;

/** Every file the command line names, in the widest sense, seen from every folder it may run in. */
export function shellPaths(context: DecisionContext, wide: WideReading, started: readonly string[]): ShellPaths {
  const cwds = [...new Set(entered(context, wide, started))];
  const found = {
    reads: [] as NamedPath[],
    writes: [] as NamedPath[],
    searches: [] as SearchedPath[],
    deletes: [] as NamedPath[],
  };

  const seen = new Set<string>();
  let overflow: ShellPaths['overflow'] = 'complete';

  function add(to: 'reads' | 'writes' | 'deletes', word: string, sure: NamedPath['sure'], command: string): void {
    const key = `${to} ${sure} ${word}`;
    if (seen.has(key)) return;
    seen.add(key);
    for (const cwd of cwds) {
      if (found[to].length >= MAX_PATHS) overflow = 'cut';
      else
        for (const spelling of spellings(context, cwd, word))
          found[to].push({ path: resolveIn(context, cwd, spelling), sure, command });
    }
  }

  for (const word of wide.reads) add('reads', word, 'certain', `< ${word}`);
  for (const word of wide.writes) add('writes', word, 'certain', `> ${word}`);
  for (const reached of wide.commands) readCommand(reached);
  const echoed = wide.commands.filter(({ argv }) => /^(?:echo|printf)$/.test(argv[0] ?? ''));
  const isUsed = wide.nested === 'yes' || wide.commands.some(({ via }) => via === 'xargs');
  const isFedToWriter = wide.commands.some(
    ({ argv, via }) => via === 'xargs' && writtenWords([...argv, 'x']).length > 0,
  );
  // What is printed into a substitution, or for xargs, may be the name of a file.
  for (const { argv } of isUsed ? echoed : [])
    for (const word of argv.slice(1).flatMap((each) => each.split(/\s+/))) {
      add('reads', word, 'possible', argv.join(' '));
      if (isFedToWriter) add('writes', word, 'possible', argv.join(' '));
    }
  for (const { place, ...scope } of searchScopes(wide.commands)) {
    if (scope.use === 'write') add('writes', place, scope.sure, scope.command);
    for (const cwd of cwds)
      for (const spelling of spellings(context, cwd, place))
        if (found.searches.length >= MAX_SEARCHES) overflow = 'cut';
        else found.searches.push({ ...scope, path: resolveIn(context, cwd, spelling) });
  }

  function readCommand({ argv }: Reached): void {
    const name = baseName(argv[0] ?? '');
    const said = argv.join(' ');
    const operands = argv
      .slice(1)
      .filter((word, index) => !word.startsWith('-') || argv.slice(1, index + 1).includes('--'));
    const flags = argv.slice(1).filter((word) => word.startsWith('-'));
    const recursive = flags.some((flag) => /^-[a-zA-Z]*[rR]/.test(flag) || flag === '--recursive');
    const files =
      PATTERN_FIRST.test(name) && !flags.some((flag) => /^-[a-zA-Z]*[ef]/.test(flag)) ? operands.slice(1) : operands;
    if (READERS.test(name)) for (const word of files) add('reads', word, 'certain', said);
    else if (name === 'git') for (const word of gitPaths(argv)) add('reads', word, 'certain', said);
    else if (!SILENT.test(name))
      for (const word of operands) for (const part of partsOf(word)) add('reads', part, 'possible', said);
    if (CODE_RUNNERS.test(name))
      for (const word of argv.flatMap((each) =>
        [...each.matchAll(/(["'`])([^"'`\n]{1,200})\1/g)].map((hit) => hit[2] ?? ''),
      ))
        add('reads', word, 'possible', said);
    for (const flag of flags.filter((each) => !LEAVING_OUT.test(each)))
      for (const part of partsOf(flag).slice(1)) if (!SILENT.test(name)) add('reads', part, 'possible', said);
    if (name === 'find' && argv.some((word) => /^-(?:delete|exec|ok|execdir|okdir)$/.test(word)))
      for (const word of argv.filter((_, at) => /^-(?:i?path|wholename)$/.test(argv[at - 1] ?? '')))
        add('writes', word, 'possible', said);
    for (const { word, sure } of writtenWords(argv)) add('writes', word, sure, said);
    if (name === 'rm' && recursive) for (const word of operands) add('deletes', word, 'certain', said);
    if (
      name === 'find' &&
      !argv.some((word) => SELECTING.test(word)) &&
      (argv.includes('-delete') || /\brm\b|\bunlink\b|\bshred\b/.test(said))
    ) {
      for (const word of argv.slice(
        1,
        argv.findIndex((each, index) => index > 0 && /^[-!(]/.test(each)),
      ))
        add('deletes', word, 'certain', said);
    }
  }

  return { ...found, overflow };
}

/** The folders that `cd` and `pushd` may lead to, wherever in the line they stand. */
function entered(context: DecisionContext, wide: WideReading, started: readonly string[]): readonly string[] {
  const folders = [...started];
  const moves = wide.commands.filter(({ argv }) => /^(?:cd|pushd)$/.test(argv[0] ?? ''));
  for (const { argv } of moves.slice(0, MAX_MOVES)) {
    const target = argv.slice(1).find((word) => !word.startsWith('-'));
    if (target !== undefined)
      for (const cwd of folders.slice(0, MAX_MOVES)) folders.push(resolveIn(context, cwd, target).real);
  }
  return folders;
}

/** A pattern stands for itself and for what it matches now; home variables for the home folder. */
function spellings(context: DecisionContext, cwd: string, word: string): readonly string[] {
  const named = word
    .replace(/^\$(?:HOME\b|\{HOME\})/, context.policy.home)
    .replace(/^(?:\$(?:PWD\b|\{PWD\})|~\+(?=\/|$))/, cwd)
    .replace(/^file:\/\/(?:localhost)?/, '');
  return braced(named).flatMap((each) => {
    if (!/[*?[]/.test(each)) return [each];
    const expanded = expandGlob(context.fs, cwd, each);
    return expanded === 'cut' ? [each] : [...new Set([each, ...expanded])];
  });
}

/** `{a,b}/c` as the names it stands for, and as it is written. */
function braced(word: string): readonly string[] {
  let words = [word];
  for (let round = 0; round < 4; round += 1) {
    const next = words.flatMap((each) => {
      const found = /^(.*?)\{([^{}]*,[^{}]*)\}(.*)$/s.exec(each);
      return found === null ? [each] : (found[2] ?? '').split(',').map((part) => `${found[1]}${part}${found[3]}`);
    });
    if (next.length === words.length || next.length > MAX_BRACED) break;
    words = next;
  }
  return words.includes(word) ? words : [word, ...words];
}

/** `--file=x`, `file=@x`, `@x`, `user@host:x`: the pieces of a word that may be file names. */
function partsOf(word: string): readonly string[] {
  return [...new Set([word, ...word.split(/[=@:,]/).slice(1)])].filter((part) => part !== '');
}

/** `git show HEAD:secrets/key`, `git diff -- secrets`, `git grep x -- secrets`. */
function gitPaths(argv: readonly string[]): readonly string[] {
  const showing =
    /^(?:show|diff|log|blame|annotate|cat-file|grep|archive|checkout|restore|difftool|whatchanged|format-patch|stash|hash-object|apply|am|worktree|bundle|ls-files)$/;
  const from = argv.findIndex((word, index) => index > 0 && showing.test(word));
  if (from === -1) return [];
  const folder = argv[argv.indexOf('-C') + 1] ?? '.';
  const words = argv
    .slice(from + 1)
    .flatMap((word) => (word.startsWith('-') ? [] : [word, ...word.split(':').slice(1)]))
    .filter((word) => word !== '');
  return argv.includes('-C') ? words.flatMap((word) => [word, `${folder}/${word}`]) : words;
}
