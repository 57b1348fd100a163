import { tailReading, unpackedReading } from './grammars.ts';
import { each, type Program, type Programs } from './program.ts';

const READS: Program = { reads: 'operands' };

/** Programs that show what is in files and folders. */
export const FILE_READERS: Programs = {
  ls: {
    opensNothing: true,
    otherO: true,
    lists: 'operands',
    readOnly: {
      short: 'aAbBcCdfFgGhHiIklLmnNopqQrRsStuUvwxXZ1',
      long: 'all almost-all author escape block-size= ignore-backups color? directory dired classify? file-type format= full-time group-directories-first no-group human-readable si dereference-command-line hide= indicator-style= inode ignore= kibibytes dereference numeric-uid-gid literal hide-control-chars show-control-chars quote-name quoting-style= reverse recursive size sort= time= time-style= tabsize# width# context zero',
      globs: 'checked',
      withoutPath: 'here',
    },
  },
  cat: {
    reads: 'operands',
    copiesFiles: true,
    readOnly: {
      short: 'AbeEnstTuv',
      long: 'show-all number-nonblank show-ends number squeeze-blank show-tabs show-nonprinting',
      globs: 'checked',
    },
  },
  fmt: { reads: 'operands', readOnly: { short: 'cstuw:g:' } },
  zcat: { reads: 'operands', starts: ['gzip'], grammar: unpackedReading, readOnly: { short: 'f' } },
  tac: { reads: 'operands', readOnly: { short: 'br', long: 'before regex', globs: 'checked' } },
  head: {
    reads: 'operands',
    keepsLines: true,
    readOnly: {
      short: 'n:c:qvz',
      long: 'lines# bytes# quiet silent verbose zero-terminated',
      globs: 'checked',
      digits: 'count',
    },
  },
  tail: {
    reads: 'operands',
    keepsLines: true,
    grammar: tailReading,
    readOnly: {
      short: 'n:c:qvzr',
      long: 'lines# bytes# quiet silent verbose zero-terminated',
      globs: 'checked',
      digits: 'count',
    },
  },
  wc: {
    reads: 'operands',
    readOnly: { short: 'clmLw', long: 'bytes chars lines max-line-length words total=', globs: 'checked' },
  },
  nl: {
    reads: 'operands',
    readOnly: {
      short: 'b=d=f=h=i:l:n=ps=v:w:',
      long: 'body-numbering= section-delimiter= footer-numbering= header-numbering= line-increment# join-blank-lines# number-format= no-renumber number-separator= starting-line-number# number-width#',
      globs: 'checked',
    },
  },
  stat: {
    opensNothing: true,
    readOnly: { short: 'c=fLtx', long: 'dereference file-system format= printf= terse cached=', globs: 'checked' },
  },
  sort: {
    reads: 'operands',
    keepsLines: true,
    textOptions: ['--compress-program'],
    readOnly: {
      short: 'bdfgiMhnrRVcCk=mst=uz',
      long: 'ignore-leading-blanks dictionary-order ignore-case general-numeric-sort ignore-nonprinting month-sort human-numeric-sort numeric-sort reverse version-sort check? key= merge stable field-separator= unique zero-terminated',
    },
  },
  uniq: {
    reads: 'operands',
    keepsLines: true,
    writes: 'second',
    readOnly: {
      short: 'cdDf:is:uzw:',
      long: 'count repeated skip-fields# ignore-case skip-chars# unique zero-terminated check-chars#',
      maxOperands: 1,
    },
  },
  cut: {
    reads: 'operands',
    readOnly: {
      short: 'b=c=d=f=nsz',
      long: 'bytes= characters= delimiter= fields= complement only-delimited output-delimiter= zero-terminated',
    },
  },
  tr: { readOnly: { short: 'cCdst', long: 'complement delete squeeze-repeats truncate-set1', operands: 'text' } },
  paste: { reads: 'operands', readOnly: { short: 'd=sz', long: 'delimiters= serial zero-terminated' } },
  comm: {
    reads: 'operands',
    readOnly: { short: '123z', long: 'check-order nocheck-order output-delimiter= total zero-terminated' },
  },
  join: {
    reads: 'operands',
    readOnly: { short: 'a:e=ij:o=t=v:1:2:z', long: 'ignore-case check-order nocheck-order header zero-terminated' },
  },
  column: { readOnly: { short: 'tc:s=o=xnN=R=', long: 'table separator= output-separator= fillrows table-columns=' } },
  fold: { readOnly: { short: 'bsw:', long: 'bytes spaces width#' } },
  rev: { readOnly: { short: '' } },
  expand: { readOnly: { short: 'it=', long: 'initial tabs=' } },
  cmp: {
    reads: 'operands',
    readOnly: { short: 'bi=ln:s', long: 'print-bytes ignore-initial= verbose bytes# quiet silent' },
  },
  file: {
    reads: 'operands',
    readOnly: { short: 'bikLhNnrs0', long: 'brief mime mime-type mime-encoding keep-going dereference no-dereference' },
  },
  du: {
    readOnly: {
      short: 'aAbchkmsSx0d:B=',
      long: 'all apparent-size bytes total human-readable max-depth# summarize si separate-dirs one-file-system exclude= block-size= time?',
      globs: 'checked',
      withoutPath: 'here',
    },
  },
  df: {
    readOnly: {
      short: 'aBhHiklPTt=x=',
      long: 'all human-readable si inodes local portability print-type type= total output?',
    },
  },
  yq: {
    reads: 'after-pattern',
    code: { readsData: true, isPlain: (args) => !args.some((word) => /load|env|^-?-f/.test(word)) },
  },
  ...each('base64 base32', { reads: 'operands', readOnly: { short: 'diw:', long: 'decode ignore-garbage wrap#' } }),
  ...each('less more bat batcat sha224sum sha384sum', READS),
};
