import { findProgramFacts } from '../programs/find-program-facts.ts';
import type { ProgramFacts, ProgramSubcommands } from '../programs/program-facts.ts';
import type { ShellEffects } from './collect-shell-effects.ts';
import { findFileNamesInStdinCode, listFileNamesInCode } from './interpreter-code.ts';
import { listWrittenArgs } from './written-file-args.ts';

/** An argument that may name a file, before it is resolved in any folder. */
export type PathMention = {
  readonly use: 'reads' | 'writes' | 'deletes';
  readonly word: string;
  /** `certain`: the command will use the file; `possible`: the argument may be a file name. */
  readonly certainty: 'certain' | 'possible';
  readonly command: string;
};

const SELECTING_OPTION = /^-(?:i?name|i?path|i?regex|wholename|newer\w*|mtime|mmin|empty|size)$/;
const EXCLUDING_OPTION = /^--(?:exclude|include|i?glob|ignore)(?:-\w+)?=/;
/** Length of the code that is shown with the names found in it. */
const MAX_SHOWN_CODE = 200;

/** Lists every argument on a command line that may name a file. */
export function listPathMentions(effects: ShellEffects): readonly PathMention[] {
  const { commands, reads, writes, inputCode } = effects;
  return [
    ...reads.flatMap((word) => mention('reads', 'certain', `< ${word}`, [word])),
    ...writes.flatMap((word) => mention('writes', 'certain', `> ${word}`, [word])),
    ...commands.flatMap(({ argv }) => listCommandMentions(argv)),
    ...listPrintedMentions(effects),
    ...inputCode.flatMap((text) => {
      const { names, mayChange } = findFileNamesInStdinCode(text);
      return mentionPossible(names, text.slice(0, MAX_SHOWN_CODE), mayChange ? ['reads', 'writes'] : ['reads']);
    }),
  ];
}

function mention(
  use: PathMention['use'],
  certainty: PathMention['certainty'],
  command: string,
  words: readonly string[],
): readonly PathMention[] {
  return words.map((word) => ({ use, word, certainty, command }));
}

function mentionPossible(words: readonly string[], command: string, uses: readonly PathMention['use'][]) {
  return uses.flatMap((use) => mention(use, 'possible', command, words));
}

/** Returns the printed words that may be file names: in a substitution, or piped to a program that reads names. */
function listPrintedMentions({ commands, hasSubstitution }: ShellEffects): readonly PathMention[] {
  const fedCommands = commands.filter(({ via }) => findProgramFacts(via).inputBecomes !== undefined);
  if (!hasSubstitution && fedCommands.length === 0) return [];
  const isWritten = fedCommands.some(({ argv }) => listWrittenArgs([...argv, 'x']).length > 0);
  return commands
    .filter(({ argv }) => findProgramFacts(argv[0] ?? '').printsArgs === true)
    .flatMap(({ argv }) => {
      const words = argv.slice(1).flatMap((arg) => arg.split(/\s+/));
      return mentionPossible(words, argv.join(' '), isWritten ? ['reads', 'writes'] : ['reads']);
    });
}

function listCommandMentions(argv: readonly string[]): readonly PathMention[] {
  const program = findProgramFacts(argv[0] ?? '');
  const command = argv.join(' ');
  const dashes = argv.indexOf('--', 1);
  const operands = argv.slice(1).filter((word, index) => !word.startsWith('-') || (dashes !== -1 && index >= dashes));
  const flags = argv.slice(1).filter((word) => word.startsWith('-'));
  const isRecursive = flags.some((flag) => /^-[a-zA-Z]*[rR]/.test(flag) || flag === '--recursive');
  return [
    ...mention('reads', 'certain', command, listReadOperands(argv, program, operands, flags)),
    ...mention('reads', 'possible', command, listPossibleReads(argv, program, operands, flags)),
    ...(program.walksFolders === true ? listWalkMentions(argv, command) : []),
    ...listWrittenArgs(argv).map((written): PathMention => ({ use: 'writes', ...written, command })),
    ...(program.deletes === true && isRecursive ? mention('deletes', 'certain', command, operands) : []),
  ];
}

/** Returns the operands that a known program reads. */
function listReadOperands(
  argv: readonly string[],
  { reads, subcommands }: ProgramFacts,
  operands: readonly string[],
  flags: readonly string[],
): readonly string[] {
  if (reads === undefined) return subcommands === undefined ? [] : listSubcommandPaths(argv, subcommands);
  const hasPattern = reads === 'after-pattern' && !flags.some((flag) => /^-[a-zA-Z]*[ef]/.test(flag));
  return hasPattern ? operands.slice(1) : operands;
}

/** Returns what a program may read as well: the operands of an unknown one, values of options, names in code. */
function listPossibleReads(
  argv: readonly string[],
  { reads, subcommands, interpreter, opensNoFiles }: ProgramFacts,
  operands: readonly string[],
  flags: readonly string[],
): readonly string[] {
  const isUnknown = reads === undefined && subcommands === undefined && opensNoFiles !== true;
  const valueFlags = opensNoFiles === true ? [] : flags.filter((flag) => !EXCLUDING_OPTION.test(flag));
  return [
    ...(isUnknown ? operands.flatMap(splitPathParts) : []),
    // `-v file=x`: an interpreter that reads its operands may also get paths in them.
    ...(interpreter === undefined ? [] : operands.flatMap((word) => splitPathParts(word).slice(1))),
    ...listFileNamesInCode(argv),
    ...valueFlags.flatMap((flag) => splitPathParts(flag).slice(1)),
  ];
}

/** Returns the files that a walk may change by its patterns, and the folders it deletes if no option selects files. */
function listWalkMentions(argv: readonly string[], command: string): readonly PathMention[] {
  const changesFiles = argv.some((word) => /^-(?:delete|exec|ok|execdir|okdir)$/.test(word));
  const patterns = argv.filter((_, index) => /^-(?:i?path|wholename)$/.test(argv[index - 1] ?? ''));
  const isDeleting =
    argv.includes('-delete') || command.split(/\W+/).some((word) => findProgramFacts(word).deletes === true);
  const deletesAll = isDeleting && !argv.some((word) => SELECTING_OPTION.test(word));
  const end = argv.findIndex((arg, index) => index > 0 && /^[-!(]/.test(arg));
  return [
    ...mention('writes', 'possible', command, changesFiles ? patterns : []),
    ...mention('deletes', 'certain', command, deletesAll ? argv.slice(1, end) : []),
  ];
}

/** Splits an argument into pieces that may be file names: `--file=x`, `file=@x`, `@x`, `user@host:x`. */
function splitPathParts(word: string): readonly string[] {
  return [...new Set([word, ...word.split(/[=@:,]/).slice(1)])].filter((part) => part !== '');
}

/** Returns the files of `git show HEAD:secrets/key`, `git diff -- secrets` and `git -C folder grep x -- secrets`. */
function listSubcommandPaths(
  argv: readonly string[],
  { reading, folderOption }: ProgramSubcommands,
): readonly string[] {
  const subcommandIndex = argv.findIndex((word, index) => index > 0 && reading.includes(word));
  if (subcommandIndex === -1) return [];
  const baseFolder = argv[argv.indexOf(folderOption) + 1] ?? '.';
  const paths = argv
    .slice(subcommandIndex + 1)
    .flatMap((word) => (word.startsWith('-') ? [] : [word, ...word.split(':').slice(1)]))
    .filter((word) => word !== '');
  return argv.includes(folderOption) ? paths.flatMap((word) => [word, `${baseFolder}/${word}`]) : paths;
}
