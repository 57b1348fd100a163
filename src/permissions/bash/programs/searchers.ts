import { findReading, sedReading } from './grammars.ts';
import { each, type PrintedNames, type Program, type Programs } from './program.ts';
import { findOpens, grepOpens, ripgrepOpens } from './search-filters.ts';
import { isPlainSed, sedWords } from './sed.ts';

const RUNS_FOUND: Program = {
  suggest: 'never',
  lists: 'here',
  runsAfter: ['-x', '-X', '--exec', '--exec-batch'],
  texts: 'calls',
};
const FIND: Program = {
  walks: true,
  suggest: 'never',
  texts: 'calls',
  outputs: ['-fprint', '-fprint0', '-fprintf', '-fls'],
  runsAfter: ['-exec', '-execdir', '-ok', '-okdir'],
};

const EXCLUDING = (names: readonly string[]) => names.flatMap((name) => [`--exclude=${name}`, `--exclude-dir=${name}`]);

/** What a walk prints, unless it is told how. */
function foundNames(args: readonly string[]): PrintedNames | undefined {
  const reading = findReading(args.map((text) => ({ text, kind: 'literal', prefix: text, home: 'none' })));
  if (!reading.ok || args.some((word) => /^-(?:print0|printf|ls)$/.test(word))) return undefined;
  return { of: 'below', places: reading.reads.map(({ text }) => text), opens: findOpens(args) };
}

/** Programs that look for something in files and folders. */
export const SEARCHERS: Programs = {
  grep: {
    reads: 'after-pattern',
    searches: 'recursive-flag',
    opens: grepOpens,
    leaves: EXCLUDING,
    otherO: true,
    readOnly: {
      short: 'EFGPivwxcLlqsobHhnTZarRIUzyA:B:C:m:e=',
      long: 'extended-regexp fixed-strings basic-regexp perl-regexp regexp= ignore-case no-ignore-case invert-match word-regexp line-regexp count color? colour? files-without-match files-with-matches max-count# only-matching quiet silent no-messages byte-offset with-filename no-filename label= line-number initial-tab null after-context# before-context# context# text binary-files= exclude= exclude-dir= include= recursive dereference-recursive line-buffered null-data',
      operands: 'pattern-then-paths',
      globs: 'checked',
      digits: 'count',
      follows: ['-R', '--dereference-recursive'],
    },
  },
  rg: {
    reads: 'after-pattern',
    searches: 'always',
    opens: ripgrepOpens,
    leaves: (names) => names.map((name) => `--iglob=!${name}`),
    otherO: true,
    textOptions: ['--pre', '--hostname-bin'],
    readOnly: {
      short: 'A:B:C:cFg=HiIlm:M:nNoPqsSt=T=uUvwxe=.0ahj:d:',
      long: 'after-context# before-context# context# count count-matches fixed-strings glob= iglob= hidden ignore-case files-with-matches files-without-match max-count# max-columns# line-number no-line-number only-matching pcre2 quiet case-sensitive smart-case type= type-not= unrestricted multiline multiline-dotall invert-match word-regexp line-regexp regexp= heading no-heading color= colors= json no-ignore no-ignore-vcs stats sort= sortr= files max-depth# trim vimgrep column no-messages with-filename no-filename null text type-list no-config threads# passthru',
      operands: 'pattern-then-paths',
    },
  },
  egrep: {
    starts: ['grep'],
    reads: 'after-pattern',
    searches: 'recursive-flag',
    opens: grepOpens,
    leaves: EXCLUDING,
    otherO: true,
    readOnly: {
      short: 'ivwxcLlqsoHhnrRA:B:C:m:e=',
      long: 'ignore-case invert-match count color? line-number include= exclude= recursive',
      operands: 'pattern-then-paths',
      globs: 'checked',
      follows: ['-R', '--dereference-recursive'],
    },
  },
  fgrep: {
    starts: ['grep'],
    reads: 'after-pattern',
    searches: 'recursive-flag',
    opens: grepOpens,
    leaves: EXCLUDING,
    otherO: true,
    readOnly: {
      short: 'ivwxcLlqsoHhnrRA:B:C:m:e=',
      long: 'ignore-case invert-match count color? line-number include= exclude= recursive',
      operands: 'pattern-then-paths',
      globs: 'checked',
      follows: ['-R', '--dereference-recursive'],
    },
  },
  diff: {
    reads: 'operands',
    // Two folders are compared file by file, also without being told to go down.
    searches: 'always',
    readOnly: {
      short: 'qsceuyrNaEZbwBiTtpdC:U:W:',
      long: 'brief report-identical-files side-by-side recursive new-file text ignore-tab-expansion ignore-trailing-space ignore-space-change ignore-all-space ignore-blank-lines ignore-case unified? context? color? width# minimal suppress-common-lines',
      follows: 'always',
    },
  },
  find: { ...FIND, opensNothing: true, otherO: true, grammar: findReading, names: foundNames },
  gfind: FIND,
  sed: {
    reads: 'after-pattern',
    texts: 'editing',
    inPlace: /^-[a-zA-Z]*i|^--in-place/,
    code: { readsData: true, isPlain: (args) => isPlainSed(sedWords(args)?.script ?? 'e') },
    grammar: sedReading,
  },
  ...each('ag ack', { reads: 'after-pattern', searches: 'always' }),
  ...each('fd fdfind', {
    ...RUNS_FOUND,
    lists: 'here',
    readOnly: {
      short: 'HIase=t=d:gp',
      long: 'hidden no-ignore extension= type= max-depth# glob',
      operands: 'pattern-then-paths',
      withoutPath: 'here',
    },
  }),
};
