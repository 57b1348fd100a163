import { ANSWERS, SAYING } from './programs/answers.ts';
import { BUILDERS } from './programs/builders.ts';
import { CHANGERS } from './programs/changers.ts';
import { FILE_READERS } from './programs/file-readers.ts';
import { GIT } from './programs/git.ts';
import { INTERPRETERS } from './programs/interpreters.ts';
import { MACHINE } from './programs/machine.ts';
import type { Program, Programs } from './programs/program.ts';
import { SEARCHERS } from './programs/searchers.ts';
import { SHELLS } from './programs/shells.ts';

/** Every program ouro knows of, by its name. */
const PROGRAMS: Programs = {
  ...SHELLS,
  ...INTERPRETERS,
  ...FILE_READERS,
  ...SEARCHERS,
  ...ANSWERS,
  ...CHANGERS,
  ...BUILDERS,
  ...GIT,
  ...MACHINE,
};

/** The names of the table. They stand nowhere else: the architecture test looks for them. */
export const PROGRAM_NAMES: readonly string[] = Object.keys(PROGRAMS);

const UNKNOWN: Program = {};
const IN_LOWER_CASE = new Map(Object.entries(PROGRAMS).map(([name, row]) => [name.toLowerCase(), row]));
/** The program that loads others: `ld-linux-x86-64.so.2`. */
const LOADER = /^ld(?:-[\w-]+)?\.so(?:\.\d+)*$/;

/** What is known of the program with exactly this name: for everything that speaks in its favour. */
export function exactProgram(name: string): Program {
  return Object.hasOwn(PROGRAMS, name) ? (PROGRAMS[name] ?? UNKNOWN) : UNKNOWN;
}

const NAMES_IN_DIGITS = [...IN_LOWER_CASE.keys()].filter((name) => /\d$/.test(name));

/**
 * What is known of whatever runs under this name, for everything that speaks against it: `/usr/bin/python3.12`,
 * `lua5.4`, `guile-3.0` and `node.exe` are what they are called after.
 */
export function programOf(word: string): Program {
  const name = word.replace(/^.*\//, '');
  if (Object.hasOwn(PROGRAMS, name)) return exactProgram(name);
  const plain = (LOADER.test(name) ? 'ld.so' : name.replace(/\.exe$/i, '')).toLowerCase();
  const row = IN_LOWER_CASE.get(plain) ?? (/\d/.test(plain) ? versionNamed(plain) : undefined);
  if (row === undefined) return UNKNOWN;
  // A name that only resembles another speaks for nothing: any word may be a file, and `-o` an output.
  const { opensNothing: _, otherO: __, reads: ___, subcommands: ____, ...rest } = row;
  return rest;
}

/** `python3.12`, but also `radare2-5.9` and `d8-3`: the digit before the version belongs to the name. */
function versionNamed(plain: string): Program | undefined {
  const unversioned = IN_LOWER_CASE.get(plain.replace(/[-_.]?\d.*$/s, ''));
  if (unversioned !== undefined) return unversioned;
  const name = NAMES_IN_DIGITS.find((one) => plain.startsWith(one) && /^[-_.]?\d/.test(plain.slice(one.length)));
  return name === undefined ? undefined : IN_LOWER_CASE.get(name);
}

/** True for `--version` and `--help` of a program that answers these without a look at the project. */
export function saysOfItself([name = '', word = '', more]: readonly string[]): boolean {
  return more === undefined && SAYING.has(name) && /^--(?:version|help)$/.test(word);
}

/** True for a name that sounds like a shell, known or not. */
export function soundsLikeShell(name: string): boolean {
  return name.endsWith('sh');
}

/** True for a name that no row speaks of: it may be anything, an interpreter too. */
export function isUnknownProgram(word: string): boolean {
  return programOf(word) === UNKNOWN;
}

/** Could it take a word, or what it is fed with, for something to run? */
export function mayRunTexts(word: string): boolean {
  const { isShell, runsText, texts, textOptions, runsAfter, code } = programOf(word);
  return (isShell ?? runsText ?? texts ?? textOptions ?? runsAfter ?? code) !== undefined || isUnknownProgram(word);
}
