import type { SyntaxNode } from 'unbash';
import { getProgramBaseName } from '../parse/shell-words.ts';
import { findProgramFacts, isUnknownProgram } from '../programs/find-program-facts.ts';
import { listProgramRisks } from '../programs/program-risks.ts';
import type { ReachableCommand, ShellEffects } from './collect-shell-effects.ts';
import type { ComputedArg } from './computed-args.ts';
import { findInterpreterIndex, INTERPRETER_CODE_OPTIONS } from './interpreter-code.ts';
import {
  findExecCommandStarts,
  findNestedCommandStarts,
  findWrappedCommandStarts,
  listArgPlaceholders,
  listInlineScripts,
} from './nested-commands.ts';
import { listStdinProblems, type NestedScriptParser } from './stdin-scripts.ts';
import { listWrittenArgs } from './written-file-args.ts';

/** An argument that calls a function by its name: `python3 -m timeit 'f(x)'`. */
const CALL = /\w\s*\(/;
/** Characters of code that a plain name or number does not contain. */
const CODE_CHARACTERS = /[\s"'`$();|&<>{}+\\]/;
/** Expansions whose value is known in advance: folders and numbers. */
const HARMLESS_EXPANSION = /^(?:\$\(pwd\)|\$(?:PWD|HOME)\b|\$\{(?:PWD|HOME)\}|\$[?#$]$)/;

/** Lists scripts and code that the analysis does not understand; they ask if any rule denies or asks. */
export function listUnanalyzableParts(
  root: SyntaxNode,
  effects: ShellEffects,
  reader: NestedScriptParser,
): readonly string[] {
  const { commands, computedArgs, inputScripts } = effects;
  const scripts = commands.flatMap((command) =>
    listRunScripts(command).map((text) => ({ text, name: getProgramBaseName(command.argv[0] ?? '') })),
  );
  const unanalyzable = [...scripts, ...inputScripts.map((text) => ({ text, name: 'a shell' }))].filter(
    ({ text }) => !reader.isAnalyzable(text),
  );
  return [
    ...new Set([
      ...unanalyzable.map(({ name }) => `The script that ${name} would run cannot be analyzed.`),
      ...commands.flatMap(({ argv }) => [...listCodeProblems(argv), ...listNameProblems(argv)]),
      ...computedArgs.flatMap(listComputedProblems),
      ...listCreatedFileProblems(effects),
      ...[root, ...scripts.map(({ text }) => reader.parse(text))].flatMap((tree) => listStdinProblems(tree, reader)),
    ]),
  ];
}

/** Returns the arguments that a program certainly runs as shell commands. */
function listRunScripts({ argv }: ReachableCommand): readonly string[] {
  const { isShell, runsShellCommands, inlineScripts, wrapper } = findProgramFacts(argv[0] ?? '');
  const runsAllScripts =
    isShell === true ||
    inlineScripts === 'joined' ||
    inlineScripts === 'split-string' ||
    (runsShellCommands && wrapper === undefined);

  // `docker run x sh -c '…'`
  const shell =
    isUnknownProgram(argv[0] ?? '') || runsShellCommands === true
      ? argv.findIndex((arg) => findProgramFacts(arg).isShell === true)
      : -1;
  const shellScripts = shell > 0 ? listInlineScripts(argv.slice(shell)) : [];
  const optionScripts =
    runsShellCommands === true
      ? argv.filter((_, index) => /^(?:-\w*c|--c(?:ommand|all))$/.test(argv[index - 1] ?? ''))
      : [];
  return [
    ...(runsAllScripts === true ? listInlineScripts(argv) : []),
    ...optionScripts,
    ...shellScripts,
    ...findExecCommandStarts(argv)
      .flatMap((index) => argv.slice(index, index + 1))
      .filter((arg) => /\s/.test(arg)),
  ];
}

/** Returns the reason why code given to an interpreter, even one that another program starts, may run anything. */
function listCodeProblems(argv: readonly string[]): readonly string[] {
  const interpreterIndex = findInterpreterIndex(argv);
  const { interpreter } = findProgramFacts(argv[interpreterIndex] ?? '');
  const name = getProgramBaseName(argv[Math.max(0, interpreterIndex)] ?? '');
  const args = argv.slice(interpreterIndex + 1);
  const problems = [`The code given to ${name} cannot be analyzed.`];
  if (interpreter === undefined) {
    // An unknown program may be an interpreter too.
    const isCode = args.some(
      (arg, index) => INTERPRETER_CODE_OPTIONS.test(arg) && CODE_CHARACTERS.test(`${arg}${args[index + 1] ?? ''}`),
    );
    return isUnknownProgram(argv[0] ?? '') && isCode ? problems : [];
  }
  if (interpreter.isHarmless !== undefined) return interpreter.isHarmless(args) ? [] : problems;
  return args.some((arg) => (interpreter.codeOptions ?? INTERPRETER_CODE_OPTIONS).test(arg) || CALL.test(arg))
    ? problems
    : [];
}

/** Returns the reason why names that another program passes on may be run as commands or code. */
function listNameProblems(argv: readonly string[]): readonly string[] {
  const [name = ''] = argv;
  const { inputBecomes, walksFolders } = findProgramFacts(name);
  const runsForFoundFiles = walksFolders === true || findExecCommandStarts(argv).length > 0;
  if (inputBecomes === undefined && !runsForFoundFiles) return [];
  const problems = [`The commands that ${getProgramBaseName(name)} would run depend on unknown names.`];
  const innerArgvs = findNestedCommandStarts(argv)
    .slice(1)
    .map((start) => argv.slice(start));
  const readsNameList = argv.some((arg) => /^(?:-a|--arg-file|::::|-f)/.test(arg));
  if (inputBecomes === 'commands' && (readsNameList || innerArgvs.length === 0 || !/\w/.test(innerArgvs[0]?.[0] ?? '')))
    return problems;
  const tokens = listArgPlaceholders(argv);
  const hasPlaceholder = (arg = '') => tokens.some((token) => arg.includes(token));
  const mayRunName = innerArgvs.some((innerArgv) => {
    const [first = '', ...rest] = innerArgv;
    const { isShell, interpreter, wrapper } = findProgramFacts(first);
    const runs = isShell === true || interpreter !== undefined;
    if (hasPlaceholder(first) || (runs && innerArgv.some((arg) => hasPlaceholder(arg)))) return true;
    if (inputBecomes === undefined) return false;
    const lacksCommand = wrapper !== undefined && findWrappedCommandStarts(innerArgv).length === 0;
    return lacksCommand || (runs && (rest.length === 0 || INTERPRETER_CODE_OPTIONS.test(rest.at(-1) ?? '')));
  });
  return mayRunName ? problems : [];
}

/** Returns the reason why a computed argument may be run by a shell or an interpreter. */
function listComputedProblems({ argv, index }: ComputedArg): readonly string[] {
  const arg = argv[index] ?? '';
  const { inlineScripts, scriptOptions = [] } = findProgramFacts(argv[0] ?? '');
  const previous = argv[index - 1] ?? '';
  // The value of a configuration setting, or of an option that takes a command.
  const takesScript =
    (inlineScripts === 'settings' && (previous === '-c' || /^-c|^--config/.test(arg))) ||
    scriptOptions.includes(previous);
  if (takesScript) return [`The value of ${arg} for ${getProgramBaseName(argv[0] ?? '')} is unknown.`];
  const runner = argv.findIndex((word) => {
    const { isShell, runsShellCommands, interpreter } = findProgramFacts(word);
    return isShell === true || runsShellCommands === true || interpreter !== undefined;
  });
  if (runner === -1 || runner >= index || HARMLESS_EXPANSION.test(arg)) return [];
  // The arguments after its code are the files that it reads.
  const takesFiles = findProgramFacts(argv[runner] ?? '').interpreter?.isHarmless !== undefined;
  if (takesFiles && argv.slice(runner + 1, index).some((word) => !word.startsWith('-'))) return [];
  return [`The value of ${arg} for ${getProgramBaseName(argv[runner] ?? '')} is unknown.`];
}

/** Build files that a build tool runs without being told their names. */
const BUILD_FILE =
  /^(?:(?:GNU)?[Mm]akefile|[Jj]ustfile|\.justfile|Rakefile|package\.json|build\.gradle(?:\.kts)?|build\.xml|build\.zig|Cargo\.toml|build\.rs|CMakeLists\.txt|setup\.py|conftest\.py|[\w.-]+\.mk)$/;
const COMPRESSED = /\.(?:gz|z|Z|bz2|xz|zst|lz4?|lzma)$/;

/** Lists reasons why it is unknown what runs: a file that the line creates, or a path below a link that it creates. */
function listCreatedFileProblems({ commands, writes, reads }: ShellEffects): readonly string[] {
  // A compiler writes files too, but their contents do not come from the command line.
  const writers = commands.filter(({ argv }) => {
    const { reads, writes: operands, copiesFiles } = findProgramFacts(argv[0] ?? '');
    return (reads ?? operands ?? copiesFiles) !== undefined;
  });
  const written = [...writes, ...writers.flatMap(({ argv }) => listWrittenArgs(argv).map(({ word }) => word))];
  const compressed = commands.flatMap(({ argv }) => argv.slice(1).filter((word) => COMPRESSED.test(word)));
  const created = new Set(
    [...written, ...compressed.map((word) => word.replace(COMPRESSED, ''))].map(getProgramBaseName),
  );
  created.delete('null');
  created.delete('');
  // A program that writes its second operand may take it for the prefix of many names.
  const outputPrefixes = commands.flatMap(({ argv }) =>
    findProgramFacts(argv[0] ?? '').writes === 'second'
      ? argv
          .slice(2)
          .filter((word) => /^\w/.test(word))
          .map(getProgramBaseName)
      : [],
  );
  const isCreated = (word: string) =>
    created.has(getProgramBaseName(word)) ||
    outputPrefixes.some((prefix) => getProgramBaseName(word).startsWith(prefix));
  const links = commands.flatMap(({ argv }) => listCreatedLinks(argv));
  const accessed = [...writes, ...reads].find((word) =>
    links.some((link) => word.startsWith(`${link}/`) || (writes.includes(word) && word === link)),
  );
  const linkProblems =
    accessed === undefined ? [] : [`The target of ${accessed} is unknown because the command line creates a link.`];
  const commandProblems = commands.flatMap(({ argv }) => {
    const script = listRunFiles(argv).find(isCreated);
    const linkedArg = argv.slice(1).find((word) => links.some((link) => word.startsWith(`${link}/`)));
    const buildFile = [...created].find((name) => BUILD_FILE.test(name));
    const [name = '', ...args] = argv;
    const usesBuildFile =
      buildFile !== undefined &&
      listProgramRisks(getProgramBaseName(name), args).some(({ kind }) => kind === 'runs_project');
    return [
      ...(script === undefined ? [] : [`The contents of ${script} are unknown because the command line creates it.`]),
      ...(linkedArg === undefined
        ? []
        : [`The target of ${linkedArg} is unknown because the command line creates a link.`]),
      ...(usesBuildFile ? [`The contents of ${buildFile} are unknown because the command line creates it.`] : []),
    ];
  });
  return [...linkProblems, ...commandProblems];
}

/** Returns the arguments that are run as scripts or programs, also by a program that the command starts. */
function listRunFiles([name = '', ...args]: readonly string[]): readonly string[] {
  const { interpreter, changesShellState, reads } = findProgramFacts(name);
  const isSourced = changesShellState === true && reads !== undefined;
  const isRunner = [name, ...args].some((arg) => {
    const program = findProgramFacts(arg);
    return (
      program.isShell === true || (program.interpreter !== undefined && program.interpreter.isHarmless === undefined)
    );
  });
  const ownPath = name.includes('/') ? [name] : [];
  if (isRunner || isSourced || (interpreter !== undefined && interpreter.isHarmless === undefined))
    return [...ownPath, ...args];
  return [...ownPath, ...(isUnknownProgram(name) ? args.filter((arg) => arg.includes('/')) : [])];
}

/** Returns the names of the links that a command creates. */
function listCreatedLinks([name = '', ...args]: readonly string[]): readonly string[] {
  const { createsLinks, copiesFiles } = findProgramFacts(name);
  const isCopying = copiesFiles === true && args.some((arg) => /^(?:-\w*[ls]|--link|--symbolic-link)/.test(arg));
  if (createsLinks !== true && !isCopying) return [];
  const operands = args.filter((arg) => !arg.startsWith('-'));
  const [target = ''] = operands;
  const link = operands.length > 1 ? operands.at(-1) : getProgramBaseName(target);
  return link === undefined || link === '' ? [] : [link, `./${link}`];
}
