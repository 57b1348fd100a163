import type { Command, HereDoc, Word, WordPart } from 'unbash';
import { createLazy } from '../../../lib/memoize.ts';

/** One argument of a command as bash would pass it, or the reason why it is unknown. */
export type ShellArgument = {
  readonly text: string;
  /**
   * `literal`: exactly this text. `glob`: file names. `data`: one word that holds the output of a command; `spread`:
   * any number of such words. `unknown`: anything.
   */
  readonly kind: 'literal' | 'glob' | 'data' | 'spread' | 'unknown';
  /** For a glob: the literal text before the first wildcard, so that it cannot turn out to be an option. */
  readonly prefix: string;
  readonly problem?: string;
  /** An unquoted `~/` at the start. */
  readonly home: 'home' | 'none';
  /**
   * `one`: a single word, whatever its text. `some`: one of the names that a command lists; all, some or none of them
   * may be passed.
   */
  readonly count?: 'one' | 'some';
};

const HARMLESS_EXPANSIONS: readonly string[] = ['$?', '$#', '$$'];

/** Variables that describe the machine and the user and hold no secrets, so their values may be printed. */
const NON_SECRET_VARIABLES =
  'HOME USER LOGNAME PWD OLDPWD PATH SHELL SHLVL LANG TERM TZ HOSTNAME UID EUID PPID RANDOM SECONDS OSTYPE HOSTTYPE MACHTYPE BASH_VERSION TMPDIR EDITOR VISUAL PAGER NODE_ENV CI VIRTUAL_ENV GOPATH JAVA_HOME XDG_CONFIG_HOME XDG_DATA_HOME XDG_CACHE_HOME'.split(
    ' ',
  );

/** Lists the expansions allowed in the arguments of a command that only prints them. */
export const listPrintSafeExpansions = createLazy((): readonly string[] => [
  ...HARMLESS_EXPANSIONS,
  ...NON_SECRET_VARIABLES.flatMap((name) => [`$${name}`, `\${${name}}`]),
]);

/** The value of a loop variable in one iteration: a literal text, a name that a glob matches, or any text. */
export type LoopValue = {
  readonly text: string;
  readonly kind: 'literal' | 'glob' | 'data';
  readonly prefix: string;
  /** Without quotes: `plain` stays one word, `splits` may become several. */
  readonly unquoted: 'plain' | 'splits';
};

/** Loop variables, keyed by the way they are written in the script: `$f` and `${f}`. */
export type LoopVariables = ReadonlyMap<string, LoopValue>;

const NO_LOOP_VARIABLES: LoopVariables = new Map();

/** Parses a word from its syntax parts. Its printed value does not help: `$(id)` prints as itself. */
export function parseShellArgument(
  word: Word,
  allowedExpansions = HARMLESS_EXPANSIONS,
  variables = NO_LOOP_VARIABLES,
): ShellArgument {
  const parts = word.parts ?? [];
  if (hasLooseBraces(word)) return createUnknownArgument(word, `The braces in ${word.text} cannot be resolved.`);
  const loopValue = resolveLoopVariable(parts, variables);
  if (loopValue !== undefined && loopValue.kind !== 'literal')
    return { text: loopValue.text, kind: loopValue.kind, prefix: loopValue.prefix, home: 'none', count: 'one' };
  const context: ExpansionContext = { allowedExpansions, variables, isQuoted: false };
  const home = word.text === '~' || word.text.startsWith('~/') ? 'home' : 'none';
  if (home === 'none' && word.text.startsWith('~'))
    return createUnknownArgument(word, 'The command refers to the home folder of another user.');
  if (parts.length === 0) {
    if (word.text !== '[' && /[$`*?[]/.test(word.text.replace(/\\[\s\S]/g, '')))
      return createUnknownArgument(word, `${word.text} cannot be parsed.`);
    if (/=~|:~/.test(word.text)) return createUnknownArgument(word, 'A tilde inside a word may be expanded.');
    return { text: word.value, kind: 'literal', prefix: word.value, home };
  }
  let text = '';
  let prefix: string | undefined;
  let kind: ShellArgument['kind'] = 'literal';
  for (const part of parts) {
    const parsed = parsePart(part, context);
    if (parsed.problem !== undefined)
      return {
        ...createUnknownArgument(word, parsed.problem),
        text: parts.map((other) => parsePart(other, context).text).join(''),
      };
    if (parsed.kind !== 'literal') {
      prefix ??= text;
      const isSpread = part.type === 'CommandExpansion';
      kind = kind === 'spread' || isSpread ? 'spread' : kind === 'data' ? 'data' : parsed.kind;
    }
    text += parsed.text;
  }
  if (/=~|:~/.test(word.text.replace(/(["'])[^"']*\1/g, '')))
    return createUnknownArgument(word, 'A tilde inside a word may be expanded.');
  return { text, kind, prefix: prefix ?? text, home };
}

/** True for braces that the parser takes for text and bash expands: `{a},b}` becomes two words. */
function hasLooseBraces({ text, parts = [] }: Word): boolean {
  if (!text.includes('{')) return false;
  const texts = parts.length === 0 ? [text] : parts.flatMap((part) => (part.type === 'Literal' ? [part.text] : ['x']));
  const unquoted = texts.join('').replace(/\\[\s\S]/g, 'x');
  const open = unquoted.indexOf('{');
  return open !== -1 && unquoted.lastIndexOf('}') > open && /,|\.\./.test(unquoted.slice(open));
}

/** Lists the command substitutions in a word. */
export function listSubstitutions(word: Word): readonly Extract<WordPart, { type: 'CommandExpansion' }>[] {
  return (word.parts ?? []).flatMap((part) => {
    if (part.type === 'CommandExpansion') return [part];
    if (part.type === 'DoubleQuoted') return part.parts.filter((inner) => inner.type === 'CommandExpansion');
    return [];
  });
}

/** True if bash does not expand a here-document: quoted delimiter, or no `$`, backquote or backslash in it. */
export function isLiteralHereDoc(doc: HereDoc): boolean {
  return doc.closing !== undefined && (doc.delimiter?.quoted === true || !/[$`\\]/.test(doc.body.text));
}

/** Returns the value of a word that is only a loop variable, quoted or safe to use unquoted. */
function resolveLoopVariable(parts: readonly WordPart[], variables: LoopVariables): LoopValue | undefined {
  const [part, rest] = parts;
  if (part === undefined || rest !== undefined) return undefined;
  if (part.type === 'DoubleQuoted')
    return part.parts.length === 1 ? variables.get(part.parts[0]?.text ?? '') : undefined;
  const value = variables.get(part.text);
  return value?.unquoted === 'plain' ? value : undefined;
}

/** The expansions that are known inside a word. */
type ExpansionContext = {
  readonly allowedExpansions: readonly string[];
  readonly variables: LoopVariables;
  readonly isQuoted: boolean;
};

type ParsedPart = { readonly text: string; readonly kind: 'literal' | 'glob' | 'data'; readonly problem?: string };

function parsePart(part: WordPart, context: ExpansionContext): ParsedPart {
  switch (part.type) {
    case 'Literal':
      // The parser accepts an expansion that is never closed; bash does not.
      return /\$[[({]|`/.test(part.text.replace(/\\[\s\S]/g, ''))
        ? { text: part.value, kind: 'literal', problem: `${part.text} cannot be parsed.` }
        : { text: part.value, kind: 'literal' };
    case 'SingleQuoted':
      return { text: part.value, kind: 'literal' };
    case 'Glob':
      return part.parts === undefined || part.parts.every((segment) => segment.type === 'Literal')
        ? { text: part.text, kind: 'glob' }
        : { text: part.text, kind: 'glob', problem: `The files that ${part.text} matches are unknown.` };
    case 'DoubleQuoted': {
      const segments = part.parts.map((segment) => parsePart(segment, { ...context, isQuoted: true }));
      const problem = segments.find((segment) => segment.problem !== undefined)?.problem;
      const text = segments.map((segment) => segment.text).join('');
      const kind = segments.some((segment) => segment.kind === 'data') ? 'data' : 'literal';
      return problem === undefined ? { text, kind } : { text, kind, problem };
    }
    case 'SimpleExpansion':
    case 'ParameterExpansion':
      return parseExpansion(part.text, context);
    case 'CommandExpansion':
      return { text: part.text, kind: 'data' };
    case 'AnsiCQuoted':
      return { text: part.value, kind: 'literal', problem: "The command uses an ANSI-C quoted string ($'…')." };
    default:
      return { text: part.text, kind: 'literal', problem: `The result of the expansion ${part.text} is unknown.` };
  }
}

function parseExpansion(text: string, { allowedExpansions, variables, isQuoted }: ExpansionContext): ParsedPart {
  if (allowedExpansions.includes(text)) return { text, kind: 'data' };
  const value = variables.get(text);
  const isOneWord = value !== undefined && (isQuoted || value.unquoted === 'plain');
  if (isOneWord && value.kind === 'literal') return { text: value.text, kind: 'literal' };
  // Any name may be printed, but as a part of another name it is unknown.
  const isPrintable = isOneWord || value?.kind === 'data';
  if (isPrintable && allowedExpansions === listPrintSafeExpansions()) return { text, kind: 'data' };
  return { text, kind: 'literal', problem: `The value of ${text} is unknown.` };
}

function createUnknownArgument(word: Word, problem: string): ShellArgument {
  return { text: word.value, kind: 'unknown', prefix: '', problem, home: 'none' };
}

/** Returns the arguments of a command as text, without the assignments before its name. */
export function getCommandArgv(command: Command): readonly string[] {
  const nodes = [command.name, ...command.args].filter((node) => node !== undefined);
  return nodes.map((node) => {
    if (node.type !== 'Assignment') return parseShellArgument(node).text;
    return node.value.type === 'Word' ? `${node.name}=${parseShellArgument(node.value).text}` : node.text;
  });
}

/** Returns the name of a program without its folder. */
export function getProgramBaseName(word: string): string {
  return word.replace(/^.*\//, '');
}
