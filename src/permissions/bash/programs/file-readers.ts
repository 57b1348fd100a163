import { tailReading } from './grammars.ts';
import { each, type Program, type Programs, words } from './program.ts';

const READS: Program = { reads: 'operands' };

/** Programs that show what is in files and folders. */
export const FILE_READERS: Programs = {
  ls: {
    opensNothing: true,
    otherO: true,
    lists: 'operands',
    readOnly: {
      short: 'aAbBcCdfFgGhHiIklLmnNopqQrRsStuUvwxXZ1',
      long: words(
        'all almost-all author escape block-size= ignore-backups color? directory dired classify? file-type format= full-time group-directories-first no-group human-readable si dereference-command-line hide= indicator-style= inode ignore= kibibytes dereference numeric-uid-gid literal hide-control-chars show-control-chars quote-name quoting-style= reverse recursive size sort= time= time-style= tabsize# width# context zero',
      ),
      operands: 'paths',
      globs: 'anywhere',
      withoutPath: 'here',
    },
  },
  cat: {
    reads: 'operands',
    copiesFiles: true,
    readOnly: {
      short: 'AbeEnstTuv',
      long: words('show-all number-nonblank show-ends number squeeze-blank show-tabs show-nonprinting'),
      operands: 'paths',
      globs: 'anywhere',
    },
  },
  tac: {
    reads: 'operands',
    readOnly: { short: 'br', long: words('before regex'), operands: 'paths', globs: 'anywhere' },
  },
  head: {
    reads: 'operands',
    readOnly: {
      short: 'n:c:qvz',
      long: words('lines# bytes# quiet silent verbose zero-terminated'),
      operands: 'paths',
      globs: 'anywhere',
      digits: 'count',
    },
  },
  tail: {
    reads: 'operands',
    grammar: tailReading,
    readOnly: {
      short: 'n:c:qvzr',
      long: words('lines# bytes# quiet silent verbose zero-terminated'),
      operands: 'paths',
      globs: 'anywhere',
      digits: 'count',
    },
  },
  wc: {
    reads: 'operands',
    readOnly: {
      short: 'clmLw',
      long: words('bytes chars lines max-line-length words total='),
      operands: 'paths',
      globs: 'anywhere',
    },
  },
  nl: {
    reads: 'operands',
    readOnly: {
      short: 'b=d=f=h=i:l:n=ps=v:w:',
      long: words(
        'body-numbering= section-delimiter= footer-numbering= header-numbering= line-increment# join-blank-lines# number-format= no-renumber number-separator= starting-line-number# number-width#',
      ),
      operands: 'paths',
      globs: 'anywhere',
    },
  },
  stat: {
    opensNothing: true,
    readOnly: {
      short: 'c=fLtx',
      long: words('dereference file-system format= printf= terse cached='),
      operands: 'paths',
      globs: 'anywhere',
    },
  },
  sort: {
    reads: 'operands',
    textOptions: ['--compress-program'],
    readOnly: {
      short: 'bdfgiMhnrRVcCk=mst=uz',
      long: words(
        'ignore-leading-blanks dictionary-order ignore-case general-numeric-sort ignore-nonprinting month-sort human-numeric-sort numeric-sort reverse version-sort check? key= merge stable field-separator= unique zero-terminated',
      ),
      operands: 'paths',
      globs: 'guarded',
    },
  },
  uniq: {
    reads: 'operands',
    writes: 'second',
    readOnly: {
      short: 'cdDf:is:uzw:',
      long: words('count repeated skip-fields# ignore-case skip-chars# unique zero-terminated check-chars#'),
      operands: 'paths',
      maxOperands: 1,
      globs: 'guarded',
    },
  },
  cut: {
    reads: 'operands',
    readOnly: {
      short: 'b=c=d=f=nsz',
      long: words('bytes= characters= delimiter= fields= complement only-delimited output-delimiter= zero-terminated'),
      operands: 'paths',
      globs: 'guarded',
    },
  },
  tr: {
    readOnly: {
      short: 'cCdst',
      long: words('complement delete squeeze-repeats truncate-set1'),
      operands: 'text',
      globs: 'guarded',
    },
  },
  paste: {
    reads: 'operands',
    readOnly: { short: 'd=sz', long: words('delimiters= serial zero-terminated'), operands: 'paths', globs: 'guarded' },
  },
  comm: {
    reads: 'operands',
    readOnly: {
      short: '123z',
      long: words('check-order nocheck-order output-delimiter= total zero-terminated'),
      operands: 'paths',
      globs: 'guarded',
    },
  },
  join: {
    reads: 'operands',
    readOnly: {
      short: 'a:e=ij:o=t=v:1:2:z',
      long: words('ignore-case check-order nocheck-order header zero-terminated'),
      operands: 'paths',
      globs: 'guarded',
    },
  },
  column: {
    readOnly: {
      short: 'tc:s=o=xnN=R=',
      long: words('table separator= output-separator= fillrows table-columns='),
      operands: 'paths',
      globs: 'guarded',
    },
  },
  fold: { readOnly: { short: 'bsw:', long: words('bytes spaces width#'), operands: 'paths', globs: 'guarded' } },
  rev: { readOnly: { short: '', long: [], operands: 'paths', globs: 'guarded' } },
  expand: { readOnly: { short: 'it=', long: words('initial tabs='), operands: 'paths', globs: 'guarded' } },
  cmp: {
    reads: 'operands',
    readOnly: {
      short: 'bi=ln:s',
      long: words('print-bytes ignore-initial= verbose bytes# quiet silent'),
      operands: 'paths',
      globs: 'guarded',
    },
  },
  file: {
    reads: 'operands',
    readOnly: {
      short: 'bikLhNnrs0',
      long: words('brief mime mime-type mime-encoding keep-going dereference no-dereference'),
      operands: 'paths',
      globs: 'guarded',
    },
  },
  du: {
    readOnly: {
      short: 'aAbchkmsSx0d:B=',
      long: words(
        'all apparent-size bytes total human-readable max-depth# summarize si separate-dirs one-file-system exclude= block-size= time?',
      ),
      operands: 'paths',
      globs: 'checked',
      withoutPath: 'here',
    },
  },
  df: {
    readOnly: {
      short: 'aBhHiklPTt=x=',
      long: words('all human-readable si inodes local portability print-type type= total output?'),
      operands: 'paths',
      globs: 'guarded',
    },
  },
  yq: { reads: 'after-pattern' },
  ...each('less more base64 base32 bat batcat sha224sum sha384sum', READS),
};
