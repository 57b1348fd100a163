import { join } from 'node:path/posix';
import { getProgramBaseName } from '../parse/shell-words.ts';
import { findProgramFacts } from '../programs/find-program-facts.ts';
import { listFilesChangedByCode } from './interpreter-code.ts';

/** An argument that names a file to be created, changed or removed. */
export type WrittenFileArg = { readonly word: string; readonly certainty: 'certain' | 'possible' };

/** Options of any program whose value is a file or folder to write. */
const OUTPUT_OPTION =
  /^(?:-out|--out(?:put(?:-(?:file|document|dir(?:ectory)?))?|file|dir)?|--dest(?:ination)?|--pack-destination|--directory-prefix|--log-file)$/;
/** Lists the files that one command would write. */
export function listWrittenArgs(argv: readonly string[]): readonly WrittenFileArg[] {
  const { writes, inPlaceOption, outputPrefixes = [], subcommands } = findProgramFacts(argv[0] ?? '');
  const args = argv.slice(1);
  const dashes = argv.indexOf('--', 1);
  const operands = args.filter((arg, index) => !/^-./.test(arg) || (dashes !== -1 && index >= dashes));
  const changesOperands =
    writes === 'operands' || (inPlaceOption !== undefined && args.some((word) => inPlaceOption.test(word)));
  const certain = [
    ...(changesOperands ? operands : []),
    ...(writes === 'after-first' ? operands.slice(1) : []),
    ...(writes === 'target' || writes === 'target-and-sources' ? listTargets(argv, operands) : []),
    ...(writes === 'target-and-sources' ? operands : []),
    ...outputPrefixes.flatMap((start) =>
      args.flatMap((word) => (word.startsWith(start) && word.length > start.length ? [word.slice(start.length)] : [])),
    ),
  ];
  const possible = [
    ...(writes === 'second' ? operands.slice(1) : []),
    ...(subcommands === undefined ? [] : listOperandsAfter(argv, subcommands.writing)),
    ...listFilesChangedByCode(argv),
  ];
  return [
    ...certain.map((word): WrittenFileArg => ({ word, certainty: 'certain' })),
    ...possible.map((word): WrittenFileArg => ({ word, certainty: 'possible' })),
    ...listOptionOutputs(argv),
  ];
}

/** `cp a b/` writes `b/a`. */
function listTargets(argv: readonly string[], operands: readonly string[]): readonly string[] {
  const optionTargets = argv.flatMap((arg, index) => {
    if (/^(?:-t|--target-directory)$/.test(argv[index - 1] ?? '')) return [arg];
    return /^(?:-t|--target-directory=)(.+)$/.exec(arg)?.[1] ?? [];
  });
  const targets = optionTargets.length > 0 ? optionTargets : operands.slice(-1);
  const nested = targets.flatMap((target) =>
    operands.filter((arg) => arg !== target).map((arg) => join(target, getProgramBaseName(arg))),
  );
  return [...targets, ...nested];
}

/** Returns the operands after the first of the given sub-commands. */
function listOperandsAfter(argv: readonly string[], subcommands: readonly string[]): readonly string[] {
  const subcommandIndex = argv.findIndex((arg, index) => index > 0 && subcommands.includes(arg));
  return subcommandIndex === -1 ? [] : argv.slice(subcommandIndex + 1).filter((arg) => !arg.startsWith('-'));
}

/** Lists the files that the options of a command write. */
export function listOptionOutputs(argv: readonly string[]): readonly WrittenFileArg[] {
  const { outputOptions = [], dashOIsNotOutput = false, subcommands } = findProgramFacts(argv[0] ?? '');
  return argv.flatMap((arg, index): readonly WrittenFileArg[] => {
    if (index === 0) return [];
    const [, option = '', ownValue] = /^(--?[\w-]+)(?:=(.*))?$/s.exec(arg) ?? [];
    const next = ownValue ?? argv[index + 1];
    const isOutputOption =
      outputOptions.includes(option) || OUTPUT_OPTION.test(option) || /^--outp(?:u|ut)?$/.test(option);
    // `-so file`, `-ofile`: the letter may follow others or precede its value.
    const isOutputLetter = !dashOIsNotOutput && /^-[a-zA-Z]*[oO]$/.test(option);
    const glued = dashOIsNotOutput ? undefined : /^-[oO]([^-].*)$/s.exec(arg)?.[1];
    const values = [...(isOutputOption || isOutputLetter ? [next] : []), glued];
    return values.flatMap((value): readonly WrittenFileArg[] =>
      value === undefined || value.startsWith('-')
        ? []
        : [{ word: value, certainty: isOutputOption && subcommands === undefined ? 'certain' : 'possible' }],
    );
  });
}
