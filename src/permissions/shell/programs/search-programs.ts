import {
  defineProgramFacts,
  type PrintedFileNames,
  type ProgramFacts,
  type ProgramFactsByName,
} from './program-facts.ts';
import { analyzeFindCommand, analyzeSedCommand } from './read-only-grammars.ts';
import { createFindFileFilter, createGrepFileFilter, createRipgrepFileFilter } from './search-filters.ts';
import { findSedEditedFileIndexes, isHarmlessSedScript, parseSedArgs } from './sed-script.ts';

const FD: ProgramFacts = {
  suggest: 'never',
  lists: 'cwd',
  commandMarkers: ['-x', '-X', '--exec', '--exec-batch'],
  inlineScripts: 'calls',
};
const FIND: ProgramFacts = {
  walksFolders: true,
  suggest: 'never',
  inlineScripts: 'calls',
  outputOptions: ['-fprint', '-fprint0', '-fprintf', '-fls'],
  commandMarkers: ['-exec', '-execdir', '-ok', '-okdir'],
};

const createExcludeOptions = (names: readonly string[]) =>
  names.flatMap((name) => [`--exclude=${name}`, `--exclude-dir=${name}`]);

/** Parses find commands that print names in the default format. */
function parsePrintedNames(args: readonly string[]): PrintedFileNames | undefined {
  const analysis = analyzeFindCommand(args.map((text) => ({ text, kind: 'literal', prefix: text, home: 'none' })));
  if (!analysis.ok || args.some((word) => /^-(?:print0|printf|ls)$/.test(word))) return undefined;
  return { kind: 'found', folders: analysis.reads.map(({ text }) => text), filter: createFindFileFilter(args) };
}

/** Parses searches that print the names of files with or without matches: of those that they name, or in folders. */
function parseMatchedNames(args: readonly string[]): PrintedFileNames | undefined {
  const start = args.findIndex((arg) => !/^-(?:[rilLEFPwxsaI]+|-(?:include|exclude|exclude-dir)=.+)$/.test(arg));
  const options = args.slice(0, Math.max(0, start));
  const [pattern = '', ...files] = start === -1 ? [] : args.slice(start);
  const printsNames = options.some((option) => /^-[a-zA-Z]*[lL]/.test(option));
  if (!printsNames || files.length === 0 || [pattern, ...files].some((arg) => arg.startsWith('-'))) return undefined;
  return { kind: 'found', folders: files, filter: () => true };
}

/** Programs that search files and folders. */
export const createSearchPrograms = (): ProgramFactsByName => ({
  grep: {
    readsOnlyIn: 'anywhere',
    reads: 'after-pattern',
    searches: 'recursive-flag',
    createFilter: createGrepFileFilter,
    excludeOptions: createExcludeOptions,
    printedNames: parseMatchedNames,
    dashOIsNotOutput: true,
    readOnlyOptions: {
      short: 'EFGPivwxcLlqsobHhnTZarRIUzyA:B:C:m:e=',
      long: 'extended-regexp fixed-strings basic-regexp perl-regexp regexp= ignore-case no-ignore-case invert-match word-regexp line-regexp count color? colour? files-without-match files-with-matches max-count# only-matching quiet silent no-messages byte-offset with-filename no-filename label= line-number initial-tab null after-context# before-context# context# text binary-files= exclude= exclude-dir= include= recursive dereference-recursive line-buffered null-data',
      operands: 'pattern-then-paths',
      globs: 'checked',
      digits: 'count',
      followOptions: ['-R', '--dereference-recursive'],
    },
  },
  rg: {
    readsOnlyIn: 'anywhere',
    reads: 'after-pattern',
    searches: 'always',
    createFilter: createRipgrepFileFilter,
    excludeOptions: (names) => names.map((name) => `--iglob=!${name}`),
    printedNames: parseMatchedNames,
    dashOIsNotOutput: true,
    scriptOptions: ['--pre', '--hostname-bin'],
    readOnlyOptions: {
      short: 'A:B:C:cFg=HiIlm:M:nNoPqsSt=T=uUvwxe=.0ahj:d:',
      long: 'after-context# before-context# context# count count-matches fixed-strings glob= iglob= hidden ignore-case files-with-matches files-without-match max-count# max-columns# line-number no-line-number only-matching pcre2 quiet case-sensitive smart-case type= type-not= unrestricted multiline multiline-dotall invert-match word-regexp line-regexp regexp= heading no-heading color= colors= json no-ignore no-ignore-vcs stats sort= sortr= files max-depth# trim vimgrep column no-messages with-filename no-filename null text type-list no-config threads# passthru',
      operands: 'pattern-then-paths',
    },
  },
  ...defineProgramFacts('egrep fgrep', {
    readsOnlyIn: 'anywhere',
    startsPrograms: ['grep'],
    reads: 'after-pattern',
    searches: 'recursive-flag',
    createFilter: createGrepFileFilter,
    excludeOptions: createExcludeOptions,
    dashOIsNotOutput: true,
    readOnlyOptions: {
      short: 'ivwxcLlqsoHhnrRA:B:C:m:e=',
      long: 'ignore-case invert-match count color? line-number include= exclude= recursive',
      operands: 'pattern-then-paths',
      globs: 'checked',
      followOptions: ['-R', '--dereference-recursive'],
    },
  }),
  diff: {
    reads: 'operands',
    // Two folders are compared file by file even without a recursive option.
    searches: 'always',
    readOnlyOptions: {
      short: 'qsceuyrNaEZbwBiTtpdC:U:W:',
      long: 'brief report-identical-files side-by-side recursive new-file text ignore-tab-expansion ignore-trailing-space ignore-space-change ignore-all-space ignore-blank-lines ignore-case unified? context? color? width# minimal suppress-common-lines',
      followOptions: 'always',
    },
  },
  find: {
    readsOnlyIn: 'anywhere',
    ...FIND,
    opensNoFiles: true,
    dashOIsNotOutput: true,
    analyzeArgs: analyzeFindCommand,
    printedNames: parsePrintedNames,
  },
  gfind: FIND,
  sed: {
    reads: 'after-pattern',
    inlineScripts: 'sed-command',
    inPlaceOption: /^-[a-zA-Z]*i|^--in-place/,
    interpreter: { inputIsData: true, isHarmless: (args) => isHarmlessSedScript(parseSedArgs(args)?.script ?? 'e') },
    analyzeArgs: analyzeSedCommand,
    parseEdits: findSedEditedFileIndexes,
  },
  ...defineProgramFacts('ag ack', { reads: 'after-pattern', searches: 'always' }),
  ...defineProgramFacts('fd fdfind', {
    ...FD,
    lists: 'cwd',
    readOnlyOptions: {
      short: 'HIase=t=d:gp',
      long: 'hidden no-ignore extension= type= max-depth# glob',
      operands: 'pattern-then-paths',
      defaultPath: 'cwd',
    },
  }),
});
