import {
  bracketReading,
  dateReading,
  jqReading,
  printfReading,
  psReading,
  testReading,
  xxdReading,
} from './grammars.ts';
import type { Programs } from './program.ts';

/** Programs that answer with text, a number or a name. */
export const ANSWERS: Programs = {
  basename: { opensNothing: true, readOnly: { short: 'as=z', long: 'multiple suffix= zero', operands: 'text' } },
  dirname: { opensNothing: true, readOnly: { short: 'z', long: 'zero', operands: 'text' } },
  realpath: {
    opensNothing: true,
    readOnly: {
      short: 'eEmLPqsz',
      long: 'canonicalize-existing canonicalize-missing logical physical quiet strip no-symlinks zero relative-to@ relative-base@',
    },
  },
  readlink: {
    opensNothing: true,
    readOnly: {
      short: 'femnqsvz',
      long: 'canonicalize canonicalize-existing canonicalize-missing no-newline quiet silent verbose zero',
    },
  },
  tree: {
    lists: 'here',
    readOnly: {
      short: 'adfxL:P=I=pughDFvtcUrsiCnQN',
      long: 'noreport dirsfirst du prune gitignore filesfirst inodes device charset= filelimit#',
      withoutPath: 'here',
    },
  },
  md5sum: { reads: 'operands', readOnly: { short: 'btz', long: 'binary text tag zero' } },
  sha1sum: { reads: 'operands', readOnly: { short: 'btz', long: 'binary text tag zero' } },
  sha256sum: { reads: 'operands', readOnly: { short: 'btz', long: 'binary text tag zero' } },
  sha512sum: { reads: 'operands', readOnly: { short: 'btz', long: 'binary text tag zero' } },
  cksum: { readOnly: { short: '' } },
  od: {
    reads: 'operands',
    readOnly: {
      short: 'A=j=N=t=vwabcdfilosx',
      long: 'address-radix= skip-bytes= read-bytes= format= output-duplicates',
    },
  },
  hexdump: { reads: 'operands', readOnly: { short: 'bcCdovxn:s:', long: 'canonical length# skip#' } },
  xxd: { reads: 'operands', writes: 'second', grammar: xxdReading },
  strings: { reads: 'operands', readOnly: { short: 'an:t=', long: 'all bytes# radix=' } },
  jq: {
    reads: 'after-pattern',
    grammar: jqReading,
    readOnly: {
      short: 'crRsSnaCMje',
      long: 'compact-output raw-output raw-input slurp sort-keys null-input ascii-output color-output monochrome-output join-output exit-status tab indent#',
      operands: 'pattern-then-paths',
    },
  },
  echo: {
    opensNothing: true,
    otherO: true,
    prints: true,
    messages: 'all',
    readOnly: { short: 'neE', operands: 'words', globs: 'checked' },
  },
  printf: { opensNothing: true, prints: true, grammar: printfReading },
  pwd: { opensNothing: true, readOnly: { short: 'LP', operands: 'none' } },
  true: { opensNothing: true, readOnly: { short: '', operands: 'none' } },
  false: { opensNothing: true, readOnly: { short: '', operands: 'none' } },
  ':': { opensNothing: true, readOnly: { short: '', operands: 'none' } },
  sleep: { opensNothing: true, readOnly: { short: '', operands: 'text' } },
  seq: { counts: true, readOnly: { short: 'ws=f=', long: 'equal-width separator=', operands: 'text' } },
  whoami: { readOnly: { short: '', operands: 'none' } },
  id: { readOnly: { short: 'ugnGrz', long: 'user group name groups real zero', operands: 'text' } },
  groups: { readOnly: { short: '', operands: 'text' } },
  uname: {
    readOnly: {
      short: 'asnrvmpio',
      long: 'all kernel-name nodename kernel-release kernel-version machine processor operating-system',
      operands: 'none',
    },
  },
  hostname: { readOnly: { short: 's', operands: 'none' } },
  nproc: { readOnly: { short: '', long: 'all', operands: 'none' } },
  uptime: { readOnly: { short: 'ps', long: 'pretty since', operands: 'none' } },
  free: { readOnly: { short: 'bkmghtw', long: 'human total wide bytes kibi mebi gibi', operands: 'none' } },
  arch: { readOnly: { short: '', operands: 'none' } },
  tty: { readOnly: { short: 's', long: 'silent', operands: 'none' } },
  cal: { readOnly: { short: 'my13', operands: 'text' } },
  date: {
    grammar: dateReading,
    readOnly: { short: 'uR', long: 'utc universal rfc-email iso-8601? rfc-3339=', operands: 'format', maxOperands: 1 },
  },
  which: { opensNothing: true, readOnly: { short: 'as', long: 'all', operands: 'text' } },
  type: { opensNothing: true, readOnly: { short: 'afptP', operands: 'text' } },
  cd: {
    suggest: 'never',
    opensNothing: true,
    changesFolder: true,
    readOnly: { short: 'LP', maxOperands: 1, withoutPath: 'home' },
  },
  test: { opensNothing: true, otherO: true, grammar: testReading },
  '[': { opensNothing: true, otherO: true, grammar: bracketReading },
  ps: { otherO: true, grammar: psReading },
};

/** Programs that say their version, and how they are used, without a look at the project. */
export const SAYING: ReadonlySet<string> = new Set(
  'docker podman make gh kubectl helm python python2 python3 ruby perl php lua node java gcc g++ cc clang cmake tsc rg grep find sed gawk tar zip unzip curl wget git jq bash zsh sqlite3 psql mysql redis-cli vim nvim emacs sort ls cat head tail wc bun deno uv ruff pip pip3 javac zig swift gem openssl gpg black mypy eslint prettier ghc R julia stack aws npx ninja hyperfine shellcheck'.split(
    ' ',
  ),
);
