import { defineProgramFacts, type ProgramFacts, type ProgramFactsByName, refuse } from './program-facts.ts';
import { analyzeTailCommand, analyzeZcatCommand } from './read-only-grammars.ts';

const READS_OPERANDS: ProgramFacts = { reads: 'operands' };

/** Programs that print the contents of files and folders. */
export const createFileReaders = (): ProgramFactsByName => ({
  ls: {
    readsOnlyIn: 'anywhere',
    opensNoFiles: true,
    dashOIsNotOutput: true,
    lists: 'operands',
    readOnlyOptions: {
      short: 'aAbBcCdfFgGhHiIklLmnNopqQrRsStuUvwxXZ1',
      long: 'all almost-all author escape block-size= ignore-backups color? directory dired classify? file-type format= full-time group-directories-first no-group human-readable si dereference-command-line hide= indicator-style= inode ignore= kibibytes dereference numeric-uid-gid literal hide-control-chars show-control-chars quote-name quoting-style= reverse recursive size sort= time= time-style= tabsize# width# context zero',
      globs: 'checked',
      defaultPath: 'cwd',
    },
  },
  cat: {
    readsOnlyIn: 'anywhere',
    reads: 'operands',
    copiesFiles: true,
    readOnlyOptions: {
      short: 'AbeEnstTuv',
      long: 'show-all number-nonblank show-ends number squeeze-blank show-tabs show-nonprinting',
      globs: 'checked',
    },
  },
  fmt: { reads: 'operands', readOnlyOptions: { short: 'cstuw:g:' } },
  zcat: {
    reads: 'operands',
    startsPrograms: ['gzip'],
    analyzeArgs: analyzeZcatCommand,
    readOnlyOptions: { short: 'f' },
  },
  tac: { reads: 'operands', readOnlyOptions: { short: 'br', long: 'before regex', globs: 'checked' } },
  head: {
    readsOnlyIn: 'anywhere',
    reads: 'operands',
    keepsLines: true,
    readOnlyOptions: {
      short: 'n:c:qvz',
      long: 'lines# bytes# quiet silent verbose zero-terminated',
      globs: 'checked',
      digits: 'count',
    },
  },
  tail: {
    readsOnlyIn: 'anywhere',
    reads: 'operands',
    keepsLines: true,
    analyzeArgs: analyzeTailCommand,
    readOnlyOptions: {
      short: 'n:c:qvzr',
      long: 'lines# bytes# quiet silent verbose zero-terminated',
      globs: 'checked',
      digits: 'count',
    },
  },
  wc: {
    readsOnlyIn: 'anywhere',
    reads: 'operands',
    readOnlyOptions: { short: 'clmLw', long: 'bytes chars lines max-line-length words total=', globs: 'checked' },
  },
  nl: {
    reads: 'operands',
    readOnlyOptions: {
      short: 'b=d=f=h=i:l:n=ps=v:w:',
      long: 'body-numbering= section-delimiter= footer-numbering= header-numbering= line-increment# join-blank-lines# number-format= no-renumber number-separator= starting-line-number# number-width#',
      globs: 'checked',
    },
  },
  stat: {
    opensNoFiles: true,
    readOnlyOptions: {
      short: 'c=fLtx',
      long: 'dereference file-system format= printf= terse cached=',
      globs: 'checked',
    },
  },
  sort: {
    reads: 'operands',
    keepsLines: true,
    scriptOptions: ['--compress-program'],
    readOnlyOptions: {
      short: 'bdfgiMhnrRVcCk=mst=uz',
      long: 'ignore-leading-blanks dictionary-order ignore-case general-numeric-sort ignore-nonprinting month-sort human-numeric-sort numeric-sort reverse version-sort check? key= merge stable field-separator= unique zero-terminated',
    },
  },
  uniq: {
    reads: 'operands',
    keepsLines: true,
    writes: 'second',
    readOnlyOptions: {
      short: 'cdDf:is:uzw:',
      long: 'count repeated skip-fields# ignore-case skip-chars# unique zero-terminated check-chars#',
      maxOperands: 1,
    },
  },
  cut: {
    reads: 'operands',
    readOnlyOptions: {
      short: 'b=c=d=f=nsz',
      long: 'bytes= characters= delimiter= fields= complement only-delimited output-delimiter= zero-terminated',
    },
  },
  tr: {
    readOnlyOptions: { short: 'cCdst', long: 'complement delete squeeze-repeats truncate-set1', operands: 'text' },
  },
  paste: { reads: 'operands', readOnlyOptions: { short: 'd=sz', long: 'delimiters= serial zero-terminated' } },
  comm: {
    reads: 'operands',
    readOnlyOptions: { short: '123z', long: 'check-order nocheck-order output-delimiter= total zero-terminated' },
  },
  join: {
    reads: 'operands',
    readOnlyOptions: {
      short: 'a:e=ij:o=t=v:1:2:z',
      long: 'ignore-case check-order nocheck-order header zero-terminated',
    },
  },
  column: {
    readOnlyOptions: { short: 'tc:s=o=xnN=R=', long: 'table separator= output-separator= fillrows table-columns=' },
  },
  fold: { readOnlyOptions: { short: 'bsw:', long: 'bytes spaces width#' } },
  rev: { readOnlyOptions: { short: '' } },
  expand: { readOnlyOptions: { short: 'it=', long: 'initial tabs=' } },
  cmp: {
    reads: 'operands',
    readOnlyOptions: { short: 'bi=ln:s', long: 'print-bytes ignore-initial= verbose bytes# quiet silent' },
  },
  file: {
    reads: 'operands',
    readOnlyOptions: {
      short: 'bikLhNnrs0',
      long: 'brief mime mime-type mime-encoding keep-going dereference no-dereference',
    },
  },
  du: {
    readOnlyOptions: {
      short: 'aAbchkmsSx0d:B=',
      long: 'all apparent-size bytes total human-readable max-depth# summarize si separate-dirs one-file-system exclude= block-size= time?',
      globs: 'checked',
      defaultPath: 'cwd',
    },
  },
  df: {
    readOnlyOptions: {
      short: 'aBhHiklPTt=x=',
      long: 'all human-readable si inodes local portability print-type type= total output?',
    },
  },
  yq: {
    reads: 'after-pattern',
    interpreter: { inputIsData: true, isHarmless: (args) => !args.some((word) => /load|env|^-?-f/.test(word)) },
  },
  ...defineProgramFacts('base64 base32', {
    reads: 'operands',
    readOnlyOptions: { short: 'diw:', long: 'decode ignore-garbage wrap#' },
  }),
  ...defineProgramFacts('sha224sum sha384sum more', READS_OPERANDS),
  less: {
    ...READS_OPERANDS,
    // `+!command` runs a command.
    analyzeArgs: (args) =>
      args.some(({ text }) => text.startsWith('+')) ? refuse('less would run a command.') : undefined,
    readOnlyOptions: { short: 'NRSFXEn' },
  },
  ...defineProgramFacts('bat batcat', {
    ...READS_OPERANDS,
    readOnlyOptions: {
      short: 'npAl=r=',
      long: 'plain number show-all language= line-range= style= color= paging= decorations=',
    },
  }),
  eza: {
    opensNoFiles: true,
    readOnlyOptions: {
      short: 'laAhrRs=tTL:dFgim1',
      long: 'all long tree level# git icons? header sort= reverse color= oneline',
      defaultPath: 'cwd',
    },
  },
  ...defineProgramFacts('tokei scc', {
    searches: 'always',
    reads: 'operands',
    readOnlyOptions: { short: '', long: 'files sort= by-file no-cocomo' },
  }),
});
