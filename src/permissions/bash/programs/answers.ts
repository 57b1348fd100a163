import { bracketReading, dateReading, jqReading, printfReading, psReading, testReading } from './grammars.ts';
import { type Programs, words } from './program.ts';

/** Programs that answer with text, a number or a name. */
export const ANSWERS: Programs = {
  basename: {
    opensNothing: true,
    readOnly: { short: 'as=z', long: words('multiple suffix= zero'), operands: 'text', globs: 'guarded' },
  },
  dirname: { opensNothing: true, readOnly: { short: 'z', long: words('zero'), operands: 'text', globs: 'guarded' } },
  realpath: {
    opensNothing: true,
    readOnly: {
      short: 'eEmLPqsz',
      long: words(
        'canonicalize-existing canonicalize-missing logical physical quiet strip no-symlinks zero relative-to@ relative-base@',
      ),
      operands: 'paths',
      globs: 'guarded',
    },
  },
  readlink: {
    opensNothing: true,
    readOnly: {
      short: 'femnqsvz',
      long: words('canonicalize canonicalize-existing canonicalize-missing no-newline quiet silent verbose zero'),
      operands: 'paths',
      globs: 'guarded',
    },
  },
  tree: {
    lists: 'here',
    readOnly: {
      short: 'adfxL:P=I=pughDFvtcUrsiCnQN',
      long: words('noreport dirsfirst du prune gitignore filesfirst inodes device charset= filelimit#'),
      operands: 'paths',
      globs: 'guarded',
      withoutPath: 'here',
    },
  },
  md5sum: {
    reads: 'operands',
    readOnly: { short: 'btz', long: words('binary text tag zero'), operands: 'paths', globs: 'guarded' },
  },
  sha1sum: {
    reads: 'operands',
    readOnly: { short: 'btz', long: words('binary text tag zero'), operands: 'paths', globs: 'guarded' },
  },
  sha256sum: {
    reads: 'operands',
    readOnly: { short: 'btz', long: words('binary text tag zero'), operands: 'paths', globs: 'guarded' },
  },
  sha512sum: {
    reads: 'operands',
    readOnly: { short: 'btz', long: words('binary text tag zero'), operands: 'paths', globs: 'guarded' },
  },
  cksum: { readOnly: { short: '', long: [], operands: 'paths', globs: 'guarded' } },
  od: {
    reads: 'operands',
    readOnly: {
      short: 'A=j=N=t=vw:abcdfilosx',
      long: words('address-radix= skip-bytes= read-bytes= format= output-duplicates'),
      operands: 'paths',
      globs: 'guarded',
    },
  },
  hexdump: {
    reads: 'operands',
    readOnly: { short: 'bcCdovxn:s:', long: words('canonical length# skip#'), operands: 'paths', globs: 'guarded' },
  },
  xxd: {
    reads: 'operands',
    writes: 'second',
    readOnly: { short: 'abc:eEg:l:ps:uio:', long: [], operands: 'paths', maxOperands: 1, globs: 'guarded' },
  },
  strings: {
    reads: 'operands',
    readOnly: { short: 'an:t=', long: words('all bytes# radix='), operands: 'paths', globs: 'guarded' },
  },
  jq: {
    reads: 'after-pattern',
    grammar: jqReading,
    readOnly: {
      short: 'crRsSnaCMje',
      long: words(
        'compact-output raw-output raw-input slurp sort-keys null-input ascii-output color-output monochrome-output join-output exit-status tab indent#',
      ),
      operands: 'pattern-then-paths',
      globs: 'guarded',
    },
  },
  echo: {
    opensNothing: true,
    otherO: true,
    prints: true,
    messages: 'all',
    readOnly: { short: 'neE', long: [], operands: 'words', globs: 'anywhere' },
  },
  printf: { opensNothing: true, prints: true, grammar: printfReading },
  pwd: { opensNothing: true, readOnly: { short: 'LP', long: [], operands: 'none', globs: 'guarded' } },
  true: { opensNothing: true, readOnly: { short: '', long: [], operands: 'none', globs: 'guarded' } },
  false: { opensNothing: true, readOnly: { short: '', long: [], operands: 'none', globs: 'guarded' } },
  ':': { opensNothing: true, readOnly: { short: '', long: [], operands: 'none', globs: 'guarded' } },
  sleep: { opensNothing: true, readOnly: { short: '', long: [], operands: 'text', globs: 'guarded' } },
  seq: { readOnly: { short: 'ws=f=', long: words('equal-width separator='), operands: 'text', globs: 'guarded' } },
  whoami: { readOnly: { short: '', long: [], operands: 'none', globs: 'guarded' } },
  id: {
    readOnly: { short: 'ugnGrz', long: words('user group name groups real zero'), operands: 'text', globs: 'guarded' },
  },
  groups: { readOnly: { short: '', long: [], operands: 'text', globs: 'guarded' } },
  uname: {
    readOnly: {
      short: 'asnrvmpio',
      long: words('all kernel-name nodename kernel-release kernel-version machine processor operating-system'),
      operands: 'none',
      globs: 'guarded',
    },
  },
  hostname: { readOnly: { short: 's', long: [], operands: 'none', globs: 'guarded' } },
  nproc: { readOnly: { short: '', long: words('all'), operands: 'none', globs: 'guarded' } },
  uptime: { readOnly: { short: 'ps', long: words('pretty since'), operands: 'none', globs: 'guarded' } },
  free: {
    readOnly: {
      short: 'bkmghtw',
      long: words('human total wide bytes kibi mebi gibi'),
      operands: 'none',
      globs: 'guarded',
    },
  },
  arch: { readOnly: { short: '', long: [], operands: 'none', globs: 'guarded' } },
  tty: { readOnly: { short: 's', long: words('silent'), operands: 'none', globs: 'guarded' } },
  cal: { readOnly: { short: 'my13', long: [], operands: 'text', globs: 'guarded' } },
  date: {
    grammar: dateReading,
    readOnly: {
      short: 'uR',
      long: words('utc universal rfc-email iso-8601? rfc-3339='),
      operands: 'format',
      maxOperands: 1,
      globs: 'guarded',
    },
  },
  which: { opensNothing: true, readOnly: { short: 'as', long: words('all'), operands: 'text', globs: 'guarded' } },
  type: { opensNothing: true, readOnly: { short: 'afptP', long: [], operands: 'text', globs: 'guarded' } },
  cd: {
    suggest: 'never',
    opensNothing: true,
    changesFolder: true,
    readOnly: { short: 'LP', long: [], operands: 'paths', maxOperands: 1, globs: 'guarded', withoutPath: 'home' },
  },
  test: { opensNothing: true, otherO: true, grammar: testReading },
  '[': { opensNothing: true, otherO: true, grammar: bracketReading },
  ps: { otherO: true, grammar: psReading },
};
