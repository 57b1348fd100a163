import { parse, type SyntaxNode } from 'unbash';
import { isUnknownProgram, programOf } from '../programs.ts';
import { baseName } from '../words.ts';
import { INLINE, interpreterAt } from './code.ts';
import type { ComputedWord } from './computed-words.ts';
import { feedProblems, type IsCertain } from './fed-programs.ts';
import { innerStarts } from './inner-commands.ts';
import { madeProblems } from './made-files.ts';
import { placeholders } from './placeholders.ts';
import type { PossibleReading, Reached } from './read-possible.ts';
import { execStarts, scriptTexts } from './texts-that-run.ts';
import { wrappedStarts } from './wrappers.ts';

/** A word that calls something by its name: `python3 -m timeit 'f(x)'`. */
const CALLING = /\w\s*\(/;
/** What a plain name or number does not hold, and code does. */
const LIKE_CODE = /[\s"'`$();|&<>{}+\\]/;
/** Known when the line is read: folders, and numbers. */
const HARMLESS = /^(?:\$\(pwd\)|\$(?:PWD|HOME)\b|\$\{(?:PWD|HOME)\}|\$[?#$]$)/;

/** Texts that some program will run and nobody here can read. Under rules that deny or ask, such lines ask. */
export function opaqueTexts(root: SyntaxNode, possible: PossibleReading, isCertain: IsCertain): readonly string[] {
  const { commands, computed, fed } = possible;
  const run = commands.flatMap((each) => textsRun(each).map((text) => ({ text, name: baseName(each.argv[0] ?? '') })));
  const unread = [...run, ...fed.map((text) => ({ text, name: 'a shell' }))].filter(({ text }) => !isCertain(text));
  return [
    ...new Set([
      ...unread.map(({ name }) => `What ${name} would run cannot be read for certain.`),
      ...commands.flatMap(({ argv }) => [...codeProblem(argv), ...namesProblem(argv)]),
      ...computed.flatMap(computedProblem),
      ...madeProblems(possible),
      ...[root, ...run.map(({ text }) => parse(text))].flatMap((tree) => feedProblems(tree, isCertain)),
    ]),
  ];
}

/** The words that a program certainly takes as commands of a shell. */
function textsRun({ argv }: Reached): readonly string[] {
  const { isShell, runsText, texts, wraps } = programOf(argv[0] ?? '');
  const isAll =
    isShell === true || texts === 'joined' || texts === 'behind-option' || (runsText && wraps === undefined);

  // `docker run x sh -c '…'`
  const shell =
    isUnknownProgram(argv[0] ?? '') || runsText === true
      ? argv.findIndex((word) => programOf(word).isShell === true)
      : -1;
  const inner = shell > 0 ? scriptTexts(argv.slice(shell)) : [];
  const behind =
    runsText === true ? argv.filter((_, at) => /^(?:-\w*c|--c(?:ommand|all))$/.test(argv[at - 1] ?? '')) : [];
  return [
    ...(isAll === true ? scriptTexts(argv) : []),
    ...behind,
    ...inner,
    ...execStarts(argv)
      .flatMap((at) => argv.slice(at, at + 1))
      .filter((word) => /\s/.test(word)),
  ];
}

/** Why the code in the words of an interpreter, also one that another program starts, may run anything. */
function codeProblem(argv: readonly string[]): readonly string[] {
  const at = interpreterAt(argv);
  const { code } = programOf(argv[at] ?? '');
  const name = baseName(argv[Math.max(0, at)] ?? '');
  const rest = argv.slice(at + 1);
  const problem = [`What the code given to ${name} would run is not known.`];
  if (code === undefined) {
    // A program nobody knows may be an interpreter too.
    const isCode = rest.some((word, index) => INLINE.test(word) && LIKE_CODE.test(`${word}${rest[index + 1] ?? ''}`));
    return isUnknownProgram(argv[0] ?? '') && isCode ? problem : [];
  }
  if (code.isPlain !== undefined) return code.isPlain(rest) ? [] : problem;
  return rest.some((word) => (code.options ?? INLINE).test(word) || CALLING.test(word)) ? problem : [];
}

/** Why the names that a command is given by another program may be commands, or code. */
function namesProblem(argv: readonly string[]): readonly string[] {
  const [name = ''] = argv;
  const { feedsNames, walks } = programOf(name);
  const isFinding = walks === true || execStarts(argv).length > 0;
  if (feedsNames === undefined && !isFinding) return [];
  const problem = [`What ${baseName(name)} would run depends on names that are not known.`];
  const inner = innerStarts(argv)
    .slice(1)
    .map((start) => argv.slice(start));
  const isListed = argv.some((word) => /^(?:-a|--arg-file|::::|-f)/.test(word));
  if (feedsNames === 'commands' && (isListed || inner.length === 0 || !/\w/.test(inner[0]?.[0] ?? ''))) return problem;
  const holders = placeholders(argv);
  const isHeld = (word = '') => holders.some((each) => word.includes(each));
  const isOpen = inner.some((words) => {
    const [first = '', ...others] = words;
    const { isShell, code, wraps } = programOf(first);
    const runs = isShell === true || code !== undefined;
    if (isHeld(first) || (runs && words.some((word) => isHeld(word)))) return true;
    if (feedsNames === undefined) return false;
    const isBare = wraps !== undefined && wrappedStarts(words).length === 0;
    return isBare || (runs && (others.length === 0 || INLINE.test(others.at(-1) ?? '')));
  });
  return isOpen ? problem : [];
}

/** A shell or an interpreter that is given what bash puts together. */
function computedProblem({ argv, index }: ComputedWord): readonly string[] {
  const word = argv[index] ?? '';
  const { texts, textOptions = [] } = programOf(argv[0] ?? '');
  const before = argv[index - 1] ?? '';
  // The value of a setting, or of an option that takes a command.
  const isText =
    (texts === 'values' && (before === '-c' || /^-c|^--config/.test(word))) || textOptions.includes(before);
  if (isText) return [`What ${word} gives to ${baseName(argv[0] ?? '')} is not known.`];
  const runner = argv.findIndex((each) => {
    const { isShell, runsText, code } = programOf(each);
    return isShell === true || runsText === true || code !== undefined;
  });
  if (runner === -1 || runner >= index || HARMLESS.test(word)) return [];
  // Behind its code stand the files it reads.
  const isData = programOf(argv[runner] ?? '').code?.isPlain !== undefined;
  if (isData && argv.slice(runner + 1, index).some((each) => !each.startsWith('-'))) return [];
  return [`What ${word} gives to ${baseName(argv[runner] ?? '')} is not known.`];
}
