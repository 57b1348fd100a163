import { basename, dirname, resolve } from 'node:path';
import type { ProgramStart } from '../processes/program-check.ts';

/** The folder and the variables in which a program starts. */
export type Surroundings = Pick<ProgramStart, 'cwd' | 'variables'>;

/** Lists the words of a start: those of its line, or its arguments and the words of the lines among them. */
export function listStartWords(command: ProgramStart['command'], surroundings: Surroundings): readonly string[] {
  return 'line' in command ? splitLine(command.line, surroundings) : listArguments(command.argv, surroundings);
}

function listArguments(argv: readonly string[], surroundings: Surroundings): readonly string[] {
  return argv.flatMap((word) => (/[\s;&|<>()]/.test(word) ? [word, ...splitLine(word, surroundings)] : [word]));
}

/** Stands for the part of a word that is known only when the line runs. */
const UNKNOWN = '\u{E000}';

/** Splits a line at blanks, operators and quotes, and expands its variables. */
function splitLine(line: string, { cwd, variables }: Surroundings): readonly string[] {
  const data = dropData(line.replaceAll('\\\n', '').replaceAll('~+/', './'));
  const assigned = [...data.matchAll(/(?<![\w$])(\w+)=["']?([^\s"'`;&|<>()$]+)/g)].map((match) => match.slice(1));
  const known: ProgramStart['variables'] = { PWD: cwd, ...variables, ...Object.fromEntries(assigned) };
  const createExpand = (operator: (value: string, text: string) => string) => (text: string) =>
    text
      .replaceAll(/\$\{[!#]?(\w+)([^\w{}][^{}]*)\}/g, (_, name: string, op: string) =>
        operator(known[name] ?? UNKNOWN, op),
      )
      .replaceAll(/\$\{?(\w+)\}?/g, (_, name: string) => known[name] ?? UNKNOWN);
  // `${A%/}` may be the value of A, `${A:-b}` may be b, and either may be anything.
  const expansions = [
    createExpand((value) => value),
    createExpand((_, operator) => operator.replace(/^\W{1,2}/, '')),
    createExpand(() => UNKNOWN),
  ];
  const guessed = data.replaceAll(/\$\([^()]*\)|`[^`]*`|\{\}/g, UNKNOWN);
  // Expanded after the split, since values have blanks, and before it, since values may be words of their own.
  const words = expansions.flatMap((expand) => [
    ...splitWords(data).map(expand),
    ...splitWords(expand(data)),
    ...splitWords(expand(guessed)),
  ]);
  // A path that is put together while the line runs may be any that the rest of it matches. Nothing but an unknown part
  // is most often a file to work on.
  const isUnknown = (word: string) => {
    const path = word.slice(word.indexOf('=') + 1);
    return basename(path) === UNKNOWN && resolve(cwd, dirname(path)) === cwd;
  };
  return [...new Set(words.filter((word) => !isUnknown(word)).map((word) => word.replaceAll(UNKNOWN, '*')))];
}

function splitWords(line: string): readonly string[] {
  const quoted = [...line.matchAll(/"([^"]*)"|'([^']*)'/g)].flatMap(([, double, single]) => double ?? single ?? []);
  const joined = line.replaceAll(/["'\\]/g, '');
  const split = [joined, line].flatMap((text) => text.split(/[\s;&|<>()`"',]+/));
  return [...quoted, ...split, ...split.map((word) => word.replaceAll(/[{}]/g, ''))].filter((word) => word !== '');
}

/** Words that run what they are given, in a line or after a pipe. */
const RUNNER =
  /(?<![\w./-])(?:\.|source|eval|exec|xargs|env|find|parallel|[a-z]*sh|node|bun|deno|tsx|python[\d.]*|perl|ruby|php|lua|awk|sed|make)(?![\w-])|\$\(|`|<\(/;

/** Programs that only read or write what they are given, also in a group or a condition. */
const DATA_PROGRAM =
  /^[\s{(!]*(?:(?:if|then|elif|else|do|while|until)\s[\s{(!]*)?(?:cat|echo|printf|test|\[|jq|grep|head|tail|wc|tee|touch|mkdir|ls|stat|cut|tr|sort|true|date)(?![\w./-])/;

/** The target of a redirection, quoted or not, in which nothing runs. */
const TARGET = /(?<![<&>\d])\d?>{1,2}\|?\s*(?:"[^"'`;&|<>()\n]*"|'[^"'`;&|<>()\n]*'|[^\s;&|<>()"']+)/g;

/** Drops the files that a line writes and, if nothing in it runs what it is given, those it reads as data. */
function dropData(line: string): string {
  const withoutTargets = line.replaceAll(TARGET, ' ');
  if (RUNNER.test(withoutTargets)) return withoutTargets;
  return withoutTargets
    .split(/[;&|\n]+/)
    .filter((part) => !DATA_PROGRAM.test(part))
    .join('\n');
}

/** A program that runs the first file that it is given, whatever its name ends with. */
const INTERPRETER =
  /^(?:\.|source|\w*sh|node|nodejs|bun|deno|tsx|ts-node|(?:python|pypy)[\d.]*|perl|ruby|php|lua|osascript)$/;

/** Lists the words that are scripts by their place: first after an interpreter, after `-f`, or anywhere before a pipe. */
export function listScriptWords(words: readonly string[], text: string): readonly string[] {
  if (text.split('|').slice(1).some(isInterpreterCall)) return words;
  return words.filter((word, index) => {
    const before = words.slice(Math.max(0, index - MAX_OPTIONS), index);
    const operand = before.findLast((other) => !other.startsWith('-')) ?? '';
    const isAfterFile = /^(?:-f|--file)$/.test(before.at(-1) ?? '');
    return !word.startsWith('-') && (isAfterFile || INTERPRETER.test(basename(operand)));
  });
}

function isInterpreterCall(text: string): boolean {
  const word =
    text
      .trim()
      .split(/\s+/)
      .find((part) => !part.includes('=')) ?? '';
  return INTERPRETER.test(basename(word)) || basename(word) === 'xargs';
}

/** Options between an interpreter and its script. */
const MAX_OPTIONS = 8;
