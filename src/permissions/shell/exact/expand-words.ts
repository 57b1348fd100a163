import type { CommandExpansionPart, Word } from 'unbash';
import { parseShellArgument, type ShellArgument } from '../parse/shell-words.ts';
import { getExactProgramFacts, isBuildTool, isUnknownProgram } from '../programs/find-program-facts.ts';
import { isPlainName } from './control-flow.ts';
import type { ShellState } from './shell-state.ts';

const MAX_NAMES = 500;

/**
 * Returns the words that a word expands to if all are known: `{a,b}.ts`, `{1..3}`, and file names that a command prints
 * before anything has changed. `undefined` for any other word.
 */
export function expandWord(word: Word, program: string, state: ShellState): readonly ShellArgument[] | undefined {
  const [part, otherParts] = word.parts ?? [];
  if (part?.type === 'CommandExpansion' && otherParts === undefined) return expandSubstitution(part, program, state);
  return hasOnlyPlainBraces(word) ? expandBraces(word.text)?.map(createArgument) : undefined;
}

/** Expands `$(command)` to the names it may print, unless a program could take such a name for more than a file. */
function expandSubstitution(
  { script, text }: CommandExpansionPart,
  program: string,
  state: ShellState,
): readonly ShellArgument[] | undefined {
  if (text.startsWith('`') || !takesFileNames(program)) return undefined;
  const [statement, otherTraits] = script?.commands ?? [];
  if (statement === undefined || otherTraits !== undefined || statement.background === true) return undefined;
  const names = resolvePrintedWords(statement.command, state);
  return names?.map((name) => ({ text: name, kind: 'literal', prefix: name, home: 'none', count: 'some' }));
}

/** True for a program whose operands are files, however many there are, or about which only rules decide. */
function takesFileNames(program: string): boolean {
  const { readOnlyOptions, analyzeArgs, walksFolders, parseEdits, wrapper } = getExactProgramFacts(program);
  const takesFiles =
    readOnlyOptions !== undefined && ['pattern-then-paths', undefined].includes(readOnlyOptions.operands);
  if (takesFiles) return analyzeArgs === undefined && walksFolders !== true;
  // Behind a wrapper that is looked through, such a name would be a program.
  const isRunner = wrapper !== undefined && wrapper.safeOptions === undefined;
  return parseEdits !== undefined || isRunner || isUnknownProgram(program) || isBuildTool(program);
}

/** Returns all names that a command could print, each a plain word, or `undefined` if that is not certain. */
export function resolvePrintedWords(node: { readonly type: string }, state: ShellState): readonly string[] | undefined {
  const command = isCommand(node) ? node : undefined;
  if (command === undefined || command.redirects.length > 0 || command.prefix.length > 0) return undefined;
  // The lookup sees the disk as it was before the command line started.
  if (state.commandsBefore > 0 || state.variables.size > 0) return undefined;
  const args = [command.name, ...command.args].flatMap((node) =>
    node?.type === 'Word' ? [parseShellArgument(node)] : [],
  );
  if (args.length !== command.args.length + 1) return undefined;
  const lists = state.cwds.map((cwd) => {
    const argv = args.map(({ text, kind }) =>
      kind === 'literal' ? [text] : kind === 'glob' ? state.disk.expandGlob(cwd, text) : undefined,
    );
    return argv.includes(undefined)
      ? undefined
      : state.disk.listPrintedNames(
          cwd,
          argv.flatMap((texts) => texts ?? []),
        );
  });
  const names = [...new Set(lists.flatMap((list) => list ?? []))];
  const isKnown = lists.every((list) => list !== undefined) && names.length <= MAX_NAMES && names.every(isPlainName);
  return isKnown ? names : undefined;
}

const isCommand = (node: { readonly type: string }): node is import('unbash').Command => node.type === 'Command';

const PLAIN_BRACES = /^[\w.,/@%+:={}*?-]+$/;

function hasOnlyPlainBraces({ text, parts = [] }: Word): boolean {
  const isPlain = parts.every(
    (part) =>
      part.type === 'Literal' || part.type === 'BraceExpansion' || (part.type === 'Glob' && part.kind !== 'bracket'),
  );
  return isPlain && parts.some((part) => part.type === 'BraceExpansion') && PLAIN_BRACES.test(text);
}

const BRACES = /^([^{}]*)\{([^{}]*)\}(.*)$/;
const MAX_WORDS = 100;

/** Returns the words that a brace expansion produces, in order, or `undefined` if they are not certain. */
function expandBraces(text: string): readonly string[] | undefined {
  const [, prefix = '', inside, suffix = ''] = BRACES.exec(text) ?? [];
  if (inside === undefined) return /[{}]/.test(text) ? undefined : [text];
  const choices = listChoices(inside);
  const suffixes = expandBraces(suffix);
  if (choices === undefined || suffixes === undefined || choices.length * suffixes.length > MAX_WORDS) return undefined;
  const words = choices.flatMap((choice) => suffixes.map((suffixWord) => prefix + choice + suffixWord));
  // Bash drops empty words.
  return words.some((word) => word === '') ? undefined : words;
}

function listChoices(inside: string): readonly string[] | undefined {
  const [, from = '', to = ''] = /^(0|[1-9]\d{0,2}|[a-z])\.\.(0|[1-9]\d{0,2}|[a-z])$/.exec(inside) ?? [];
  if (from === '') return inside.includes('..') || !inside.includes(',') ? undefined : inside.split(',');
  const isNumber = [from, to].every((bound) => /^\d+$/.test(bound));
  if (!isNumber && [from, to].some((bound) => /^\d+$/.test(bound))) return undefined;
  const [first, last] = isNumber ? [Number(from), Number(to)] : [from.charCodeAt(0), to.charCodeAt(0)];
  const step = first > last ? -1 : 1;
  const values = Array.from(
    { length: Math.min(Math.abs(last - first) + 1, MAX_WORDS + 1) },
    (_, index) => first + index * step,
  );
  return values.map((value) => (isNumber ? String(value) : String.fromCharCode(value)));
}

function createArgument(text: string): ShellArgument {
  const wildcard = text.search(/[*?]/);
  return wildcard === -1
    ? { text, kind: 'literal', prefix: text, home: 'none' }
    : { text, kind: 'glob', prefix: text.slice(0, wildcard), home: 'none' };
}
