import type { Command, HereDoc, Word, WordPart } from 'unbash';

/** One argument as bash would pass it, or why nobody can know. */
export type Argument = {
  readonly text: string;
  /** `literal`: exactly this text. `glob`: file names. `data`: one word that holds the output of a command; `spread`: any number of such words. `unknown`: anything. */
  readonly kind: 'literal' | 'glob' | 'data' | 'spread' | 'unknown';
  /** For a glob: the text before the first star is literal, so an option cannot appear by surprise. */
  readonly prefix: string;
  readonly problem?: string;
  /** `~/` at the start without quotes. */
  readonly home: 'home' | 'none';
  /** `one`: a single word, whatever it holds. `some`: one of the names that a command lists, of which all, some or none may stand there. */
  readonly count?: 'one' | 'some';
};

const HARMLESS_EXPANSIONS: readonly string[] = ['$?', '$#', '$$'];

/** Variables that tell of the machine and the user, and hold no secret: they may be shown. */
const TELLING =
  'HOME USER LOGNAME PWD OLDPWD PATH SHELL SHLVL LANG TERM TZ HOSTNAME UID EUID PPID RANDOM SECONDS OSTYPE HOSTTYPE MACHTYPE BASH_VERSION TMPDIR EDITOR VISUAL PAGER NODE_ENV CI VIRTUAL_ENV GOPATH JAVA_HOME XDG_CONFIG_HOME XDG_DATA_HOME XDG_CACHE_HOME'.split(
    ' ',
  );

/** What may stand in the words of a command that does nothing but print them. */
export const SHOWN_EXPANSIONS: readonly string[] = [
  ...HARMLESS_EXPANSIONS,
  ...TELLING.flatMap((name) => [`$${name}`, `\${${name}}`]),
];

/** What the variable of a loop stands for in this round: a text, some name that a pattern matches, or any text. */
export type Bound = {
  readonly text: string;
  readonly kind: 'literal' | 'glob' | 'data';
  readonly prefix: string;
  /** Without quotes it is still one word, or may become several. */
  readonly bare: 'plain' | 'splits';
};

/** By what stands in a line for it: `$f`, `${f}`. */
export type Bindings = ReadonlyMap<string, Bound>;

const NOTHING_BOUND: Bindings = new Map();

/** Reads the parts of a word, never its printed value: `$(id)` prints as itself. */
export function readWord(word: Word, harmless = HARMLESS_EXPANSIONS, bound = NOTHING_BOUND): Argument {
  const parts = word.parts ?? [];
  if (hasLooseBraces(word)) return unknown(word, `What bash makes of the braces in ${word.text} is not known.`);
  const whole = boundWord(parts, bound);
  if (whole !== undefined && whole.kind !== 'literal')
    return { text: whole.text, kind: whole.kind, prefix: whole.prefix, home: 'none', count: 'one' };
  const known: Known = { harmless, bound, isQuoted: false };
  const home = word.text === '~' || word.text.startsWith('~/') ? 'home' : 'none';
  if (home === 'none' && word.text.startsWith('~')) return unknown(word, 'It names the home of another user.');
  if (parts.length === 0) {
    if (word.text !== '[' && /[$`*?[]/.test(word.text.replace(/\\[\s\S]/g, '')))
      return unknown(word, `${word.text} could not be read.`);
    if (/=~|:~/.test(word.text)) return unknown(word, 'A tilde in the middle of a word may be expanded.');
    return { text: word.value, kind: 'literal', prefix: word.value, home };
  }
  let text = '';
  let prefix: string | undefined;
  let kind: Argument['kind'] = 'literal';
  for (const part of parts) {
    const read = readPart(part, known);
    if (read.problem !== undefined)
      return { ...unknown(word, read.problem), text: parts.map((each) => readPart(each, known).text).join('') };
    if (read.kind !== 'literal') {
      prefix ??= text;
      const spread = part.type === 'CommandExpansion';
      kind = kind === 'spread' || spread ? 'spread' : kind === 'data' ? 'data' : read.kind;
    }
    text += read.text;
  }
  if (/=~|:~/.test(word.text.replace(/(["'])[^"']*\1/g, '')))
    return unknown(word, 'A tilde in the middle of a word may be expanded.');
  return { text, kind, prefix: prefix ?? text, home };
}

/** Braces that the parser takes for text and bash for choices: `{a},b}` are two words. */
function hasLooseBraces({ text, parts = [] }: Word): boolean {
  if (!text.includes('{')) return false;
  const pieces = parts.length === 0 ? [text] : parts.flatMap((part) => (part.type === 'Literal' ? [part.text] : ['x']));
  const bare = pieces.join('').replace(/\\[\s\S]/g, 'x');
  const from = bare.indexOf('{');
  return from !== -1 && bare.lastIndexOf('}') > from && /,|\.\./.test(bare.slice(from));
}

/** The commands inside the substitutions of a word that counts as data. */
export function substitutionsIn(word: Word): readonly Extract<WordPart, { type: 'CommandExpansion' }>[] {
  return (word.parts ?? []).flatMap((part) => {
    if (part.type === 'CommandExpansion') return [part];
    if (part.type === 'DoubleQuoted') return part.parts.filter((inner) => inner.type === 'CommandExpansion');
    return [];
  });
}

/** A here-document whose delimiter is quoted holds no expansions; nor does one without `$`, backquote, backslash. */
export function isPlainHereDoc(doc: HereDoc): boolean {
  return doc.closing !== undefined && (doc.delimiter?.quoted === true || !/[$`\\]/.test(doc.body.text));
}

/** A word that is nothing but the variable of a loop, quoted or harmless without. */
function boundWord(parts: readonly WordPart[], bound: Bindings): Bound | undefined {
  const [only, more] = parts;
  if (only === undefined || more !== undefined) return undefined;
  if (only.type === 'DoubleQuoted') return only.parts.length === 1 ? bound.get(only.parts[0]?.text ?? '') : undefined;
  const found = bound.get(only.text);
  return found?.bare === 'plain' ? found : undefined;
}

/** What may stand in a word besides plain text. */
type Known = { readonly harmless: readonly string[]; readonly bound: Bindings; readonly isQuoted: boolean };

type ReadPart = { readonly text: string; readonly kind: 'literal' | 'glob' | 'data'; readonly problem?: string };

function readPart(part: WordPart, known: Known): ReadPart {
  switch (part.type) {
    case 'Literal':
      // The parser forgives an expansion that is never closed; bash does not.
      return /\$[[({]|`/.test(part.text.replace(/\\[\s\S]/g, ''))
        ? { text: part.value, kind: 'literal', problem: `${part.text} could not be read.` }
        : { text: part.value, kind: 'literal' };
    case 'SingleQuoted':
      return { text: part.value, kind: 'literal' };
    case 'Glob':
      return part.parts === undefined || part.parts.every((inner) => inner.type === 'Literal')
        ? { text: part.text, kind: 'glob' }
        : { text: part.text, kind: 'glob', problem: `What ${part.text} stands for is not known.` };
    case 'DoubleQuoted': {
      const inner = part.parts.map((each) => readPart(each, { ...known, isQuoted: true }));
      const problem = inner.find((each) => each.problem !== undefined)?.problem;
      const text = inner.map((each) => each.text).join('');
      const kind = inner.some((each) => each.kind === 'data') ? 'data' : 'literal';
      return problem === undefined ? { text, kind } : { text, kind, problem };
    }
    case 'SimpleExpansion':
    case 'ParameterExpansion':
      return readExpansion(part.text, known);
    case 'CommandExpansion':
      return { text: part.text, kind: 'data' };
    case 'AnsiCQuoted':
      return { text: part.value, kind: 'literal', problem: "It uses an escaped string ($'…')." };
    default:
      return { text: part.text, kind: 'literal', problem: `${part.text} is an expansion whose result is not known.` };
  }
}

function readExpansion(text: string, { harmless, bound, isQuoted }: Known): ReadPart {
  if (harmless.includes(text)) return { text, kind: 'data' };
  const value = bound.get(text);
  const isOneWord = value !== undefined && (isQuoted || value.bare === 'plain');
  if (isOneWord && value.kind === 'literal') return { text: value.text, kind: 'literal' };
  // Any name may be shown; as a part of another name it is not known.
  const isShown = isOneWord || value?.kind === 'data';
  if (isShown && harmless === SHOWN_EXPANSIONS) return { text, kind: 'data' };
  return { text, kind: 'literal', problem: `What ${text} stands for is not known.` };
}

function unknown(word: Word, problem: string): Argument {
  return { text: word.value, kind: 'unknown', prefix: '', problem, home: 'none' };
}

/** The words of a command as text, those before its name aside. */
export function wordsOf(command: Command): readonly string[] {
  const words = [command.name, ...command.args].filter((word) => word !== undefined);
  return words.map((word) => {
    if (word.type !== 'Assignment') return readWord(word).text;
    return word.value.type === 'Word' ? `${word.name}=${readWord(word.value).text}` : word.text;
  });
}

/** A program without the folder it lies in. */
export function baseName(word: string): string {
  return word.replace(/^.*\//, '');
}
