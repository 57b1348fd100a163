import { type ReadOnlyCommand, words } from './read-only-command.ts';

/** Programs that show what is in files and folders. */
export const FILE_READERS: Readonly<Record<string, ReadOnlyCommand>> = {
  ls: {
    short: 'aAbBcCdfFgGhHiIklLmnNopqQrRsStuUvwxXZ1',
    long: words(
      'all almost-all author escape block-size= ignore-backups color? directory dired classify? file-type format= full-time group-directories-first no-group human-readable si dereference-command-line hide= indicator-style= inode ignore= kibibytes dereference numeric-uid-gid literal hide-control-chars show-control-chars quote-name quoting-style= reverse recursive size sort= time= time-style= tabsize# width# context zero',
    ),
    operands: 'paths',
    globs: 'anywhere',
    searches: 'recursive-flag',
  },
  cat: {
    short: 'AbeEnstTuv',
    long: words('show-all number-nonblank show-ends number squeeze-blank show-tabs show-nonprinting'),
    operands: 'paths',
    globs: 'anywhere',
  },
  tac: { short: 'br', long: words('before regex'), operands: 'paths', globs: 'anywhere' },
  head: {
    short: 'n:c:qvz',
    long: words('lines# bytes# quiet silent verbose zero-terminated'),
    operands: 'paths',
    globs: 'anywhere',
    digits: 'count',
  },
  tail: {
    short: 'n:c:qvzr',
    long: words('lines# bytes# quiet silent verbose zero-terminated'),
    operands: 'paths',
    globs: 'anywhere',
    digits: 'count',
  },
  wc: {
    short: 'clmLw',
    long: words('bytes chars lines max-line-length words total='),
    operands: 'paths',
    globs: 'anywhere',
  },
  nl: {
    short: 'b=d=f=h=i:l:n=ps=v:w:',
    long: words(
      'body-numbering= section-delimiter= footer-numbering= header-numbering= line-increment# join-blank-lines# number-format= no-renumber number-separator= starting-line-number# number-width#',
    ),
    operands: 'paths',
    globs: 'anywhere',
  },
  grep: {
    short: 'EFGPivwxcLlqsobHhnTZarRIUzyA:B:C:m:e=',
    long: words(
      'extended-regexp fixed-strings basic-regexp perl-regexp regexp= ignore-case no-ignore-case invert-match word-regexp line-regexp count color? colour? files-without-match files-with-matches max-count# only-matching quiet silent no-messages byte-offset with-filename no-filename label= line-number initial-tab null after-context# before-context# context# text binary-files= exclude= exclude-dir= include= recursive dereference-recursive line-buffered null-data',
    ),
    operands: 'pattern-then-paths',
    globs: 'anywhere',
    digits: 'count',
    searches: 'recursive-flag',
    follows: ['-R', '--dereference-recursive'],
  },
  rg: {
    short: 'A:B:C:cFg=HiIlm:M:nNoPqsSt=T=uUvwxe=.0ahj:d:',
    long: words(
      'after-context# before-context# context# count count-matches fixed-strings glob= iglob= hidden ignore-case files-with-matches files-without-match max-count# max-columns# line-number no-line-number only-matching pcre2 quiet case-sensitive smart-case type= type-not= unrestricted multiline multiline-dotall invert-match word-regexp line-regexp regexp= heading no-heading color= colors= json no-ignore no-ignore-vcs stats sort= sortr= files max-depth# trim vimgrep column no-messages with-filename no-filename null text type-list no-config threads# passthru',
    ),
    operands: 'pattern-then-paths',
    globs: 'guarded',
    searches: 'always',
  },
  egrep: {
    short: 'ivwxcLlqsoHhnrRA:B:C:m:e=',
    long: words('ignore-case invert-match count color? line-number include= exclude= recursive'),
    operands: 'pattern-then-paths',
    globs: 'anywhere',
    searches: 'recursive-flag',
    follows: ['-R', '--dereference-recursive'],
  },
  fgrep: {
    short: 'ivwxcLlqsoHhnrRA:B:C:m:e=',
    long: words('ignore-case invert-match count color? line-number include= exclude= recursive'),
    operands: 'pattern-then-paths',
    globs: 'anywhere',
    searches: 'recursive-flag',
    follows: ['-R', '--dereference-recursive'],
  },
  stat: {
    short: 'c=fLtx',
    long: words('dereference file-system format= printf= terse cached='),
    operands: 'paths',
    globs: 'anywhere',
  },
  sort: {
    short: 'bdfgiMhnrRVcCk=mst=uz',
    long: words(
      'ignore-leading-blanks dictionary-order ignore-case general-numeric-sort ignore-nonprinting month-sort human-numeric-sort numeric-sort reverse version-sort check? key= merge stable field-separator= unique zero-terminated',
    ),
    operands: 'paths',
    globs: 'guarded',
  },
  uniq: {
    short: 'cdDf:is:uzw:',
    long: words('count repeated skip-fields# ignore-case skip-chars# unique zero-terminated check-chars#'),
    operands: 'paths',
    maxOperands: 1,
    globs: 'guarded',
  },
  cut: {
    short: 'b=c=d=f=nsz',
    long: words('bytes= characters= delimiter= fields= complement only-delimited output-delimiter= zero-terminated'),
    operands: 'paths',
    globs: 'guarded',
  },
  tr: {
    short: 'cCdst',
    long: words('complement delete squeeze-repeats truncate-set1'),
    operands: 'text',
    globs: 'guarded',
  },
  paste: { short: 'd=sz', long: words('delimiters= serial zero-terminated'), operands: 'paths', globs: 'guarded' },
  comm: {
    short: '123z',
    long: words('check-order nocheck-order output-delimiter= total zero-terminated'),
    operands: 'paths',
    globs: 'guarded',
  },
  join: {
    short: 'a:e=ij:o=t=v:1:2:z',
    long: words('ignore-case check-order nocheck-order header zero-terminated'),
    operands: 'paths',
    globs: 'guarded',
  },
  column: {
    short: 'tc:s=o=xnN=R=',
    long: words('table separator= output-separator= fillrows table-columns='),
    operands: 'paths',
    globs: 'guarded',
  },
  fold: { short: 'bsw:', long: words('bytes spaces width#'), operands: 'paths', globs: 'guarded' },
  rev: { short: '', long: [], operands: 'paths', globs: 'guarded' },
  expand: { short: 'it=', long: words('initial tabs='), operands: 'paths', globs: 'guarded' },
  diff: {
    short: 'qsceuyrNaEZbwBiTtpdC:U:W:',
    long: words(
      'brief report-identical-files side-by-side recursive new-file text ignore-tab-expansion ignore-trailing-space ignore-space-change ignore-all-space ignore-blank-lines ignore-case unified? context? color? width# minimal suppress-common-lines',
    ),
    operands: 'paths',
    globs: 'guarded',
    searches: 'recursive-flag',
    follows: ['-r', '--recursive'],
  },
  cmp: {
    short: 'bi=ln:s',
    long: words('print-bytes ignore-initial= verbose bytes# quiet silent'),
    operands: 'paths',
    globs: 'guarded',
  },
  file: {
    short: 'bikLhNnrs0',
    long: words('brief mime mime-type mime-encoding keep-going dereference no-dereference'),
    operands: 'paths',
    globs: 'guarded',
  },
  du: {
    short: 'aAbchkmsSx0d:B=',
    long: words(
      'all apparent-size bytes total human-readable max-depth# summarize si separate-dirs one-file-system exclude= block-size= time?',
    ),
    operands: 'paths',
    globs: 'checked',
  },
  df: {
    short: 'aBhHiklPTt=x=',
    long: words('all human-readable si inodes local portability print-type type= total output?'),
    operands: 'paths',
    globs: 'guarded',
  },
};
