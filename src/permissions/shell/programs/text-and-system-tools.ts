import { splitWords } from '../../../lib/text/lines.ts';
import { listPrintSafeExpansions } from '../parse/shell-words.ts';
import {
  defineProgramFacts,
  type ProgramFacts,
  type ProgramFactsByName,
  READS_NOTHING,
  refuse,
} from './program-facts.ts';
import {
  analyzeBracketCommand,
  analyzeDateCommand,
  analyzeJqCommand,
  analyzePrintfCommand,
  analyzePsCommand,
  analyzeTestCommand,
  analyzeXxdCommand,
} from './read-only-grammars.ts';

/** Small utilities that print text, numbers or names. */
export const createUtilityPrograms = (): ProgramFactsByName => ({
  basename: {
    readsOnlyIn: 'anywhere',
    opensNoFiles: true,
    readOnlyOptions: { short: 'as=z', long: 'multiple suffix= zero', operands: 'text' },
  },
  dirname: {
    readsOnlyIn: 'anywhere',
    opensNoFiles: true,
    readOnlyOptions: { short: 'z', long: 'zero', operands: 'text' },
  },
  realpath: {
    opensNoFiles: true,
    readOnlyOptions: {
      short: 'eEmLPqsz',
      long: 'canonicalize-existing canonicalize-missing logical physical quiet strip no-symlinks zero relative-to@ relative-base@',
    },
  },
  readlink: {
    opensNoFiles: true,
    readOnlyOptions: {
      short: 'femnqsvz',
      long: 'canonicalize canonicalize-existing canonicalize-missing no-newline quiet silent verbose zero',
    },
  },
  tree: {
    lists: 'cwd',
    readOnlyOptions: {
      short: 'adfxL:P=I=pughDFvtcUrsiCnQN',
      long: 'noreport dirsfirst du prune gitignore filesfirst inodes device charset= filelimit#',
      defaultPath: 'cwd',
    },
  },
  md5sum: { reads: 'operands', readOnlyOptions: { short: 'btz', long: 'binary text tag zero' } },
  sha1sum: { reads: 'operands', readOnlyOptions: { short: 'btz', long: 'binary text tag zero' } },
  sha256sum: { reads: 'operands', readOnlyOptions: { short: 'btz', long: 'binary text tag zero' } },
  sha512sum: { reads: 'operands', readOnlyOptions: { short: 'btz', long: 'binary text tag zero' } },
  cksum: { readOnlyOptions: { short: '' } },
  od: {
    reads: 'operands',
    readOnlyOptions: {
      short: 'A=j=N=t=vwabcdfilosx',
      long: 'address-radix= skip-bytes= read-bytes= format= output-duplicates',
    },
  },
  hexdump: { reads: 'operands', readOnlyOptions: { short: 'bcCdovxn:s:', long: 'canonical length# skip#' } },
  xxd: { reads: 'operands', writes: 'second', analyzeArgs: analyzeXxdCommand },
  strings: { reads: 'operands', readOnlyOptions: { short: 'an:t=', long: 'all bytes# radix=' } },
  jq: {
    reads: 'after-pattern',
    riskyOptions: splitWords('-L --library-path'),
    analyzeArgs: analyzeJqCommand,
    readOnlyOptions: {
      short: 'crRsSnaCMje',
      long: 'compact-output raw-output raw-input slurp sort-keys null-input ascii-output color-output monochrome-output join-output exit-status tab indent#',
      operands: 'pattern-then-paths',
    },
  },
  echo: {
    readsOnlyIn: 'anywhere',
    opensNoFiles: true,
    dashOIsNotOutput: true,
    printsArgs: true,
    textArgs: 'all',
    readOnlyOptions: { short: 'neE', operands: 'any', globs: 'checked' },
  },
  printf: { readsOnlyIn: 'anywhere', opensNoFiles: true, printsArgs: true, analyzeArgs: analyzePrintfCommand },
  pwd: { readsOnlyIn: 'anywhere', opensNoFiles: true, readOnlyOptions: { short: 'LP', operands: 'none' } },
  true: { readsOnlyIn: 'anywhere', opensNoFiles: true, readOnlyOptions: { short: '', operands: 'none' } },
  false: { readsOnlyIn: 'anywhere', opensNoFiles: true, readOnlyOptions: { short: '', operands: 'none' } },
  ':': { readsOnlyIn: 'anywhere', opensNoFiles: true, readOnlyOptions: { short: '', operands: 'none' } },
  sleep: { readsOnlyIn: 'anywhere', opensNoFiles: true, readOnlyOptions: { short: '', operands: 'text' } },
  seq: {
    readsOnlyIn: 'anywhere',
    printsNumbers: true,
    readOnlyOptions: { short: 'ws=f=', long: 'equal-width separator=', operands: 'text' },
  },
  whoami: { readsOnlyIn: 'anywhere', readOnlyOptions: { short: '', operands: 'none' } },
  id: {
    readsOnlyIn: 'anywhere',
    readOnlyOptions: { short: 'ugnGrz', long: 'user group name groups real zero', operands: 'text' },
  },
  groups: { readsOnlyIn: 'anywhere', readOnlyOptions: { short: '', operands: 'text' } },
  uname: {
    readsOnlyIn: 'anywhere',
    readOnlyOptions: {
      short: 'asnrvmpio',
      long: 'all kernel-name nodename kernel-release kernel-version machine processor operating-system',
      operands: 'none',
    },
  },
  hostname: { readsOnlyIn: 'anywhere', readOnlyOptions: { short: 's', operands: 'none' } },
  nproc: { readsOnlyIn: 'anywhere', readOnlyOptions: { short: '', long: 'all', operands: 'none' } },
  uptime: { readsOnlyIn: 'anywhere', readOnlyOptions: { short: 'ps', long: 'pretty since', operands: 'none' } },
  free: {
    readsOnlyIn: 'anywhere',
    readOnlyOptions: { short: 'bkmghtw', long: 'human total wide bytes kibi mebi gibi', operands: 'none' },
  },
  arch: { readsOnlyIn: 'anywhere', readOnlyOptions: { short: '', operands: 'none' } },
  tty: { readsOnlyIn: 'anywhere', readOnlyOptions: { short: 's', long: 'silent', operands: 'none' } },
  cal: { readsOnlyIn: 'anywhere', readOnlyOptions: { short: 'my13', operands: 'text' } },
  date: {
    readsOnlyIn: 'anywhere',
    analyzeArgs: analyzeDateCommand,
    readOnlyOptions: {
      short: 'uR',
      long: 'utc universal rfc-email iso-8601? rfc-3339=',
      operands: 'format',
      maxOperands: 1,
    },
  },
  which: { opensNoFiles: true, readOnlyOptions: { short: 'as', long: 'all', operands: 'text' } },
  type: { readsOnlyIn: 'anywhere', opensNoFiles: true, readOnlyOptions: { short: 'afptP', operands: 'text' } },
  cd: {
    readsOnlyIn: 'anywhere',
    suggest: 'never',
    opensNoFiles: true,
    changesCwd: true,
    readOnlyOptions: { short: 'LP', maxOperands: 1, defaultPath: 'home' },
  },
  test: { readsOnlyIn: 'anywhere', opensNoFiles: true, dashOIsNotOutput: true, analyzeArgs: analyzeTestCommand },
  '[': { readsOnlyIn: 'anywhere', opensNoFiles: true, dashOIsNotOutput: true, analyzeArgs: analyzeBracketCommand },
  ps: { readsOnlyIn: 'host', dashOIsNotOutput: true, analyzeArgs: analyzePsCommand },
});

/** Programs that print their version and help without reading the project. */
export const VERSION_QUERY_PROGRAMS: ReadonlySet<string> = new Set(
  'docker podman make golangci-lint staticcheck poetry terraform gh kubectl helm python python2 python3 ruby perl php lua node java gcc g++ cc clang cmake tsc rg grep find sed gawk tar zip unzip curl wget git jq bash zsh sqlite3 psql mysql redis-cli vim nvim emacs sort ls cat head tail wc bun deno uv ruff pip pip3 javac zig swift gem openssl gpg black mypy eslint prettier ghc R julia stack aws npx ninja hyperfine shellcheck'.split(
    ' ',
  ),
);

const createListing = (short: string, long = ''): ProgramFacts => ({
  opensNoFiles: true,
  dashOIsNotOutput: true,
  readOnlyOptions: { short, long, operands: 'none' },
});

const PORT_ARG = /^-(?:[nPt]*(?:i(?:tcp|udp|TCP|UDP)?(?::[\d,-]+)?)?|sTCP:LISTEN)$|^:[\d,-]+$/;

/** Programs that print facts about the machine and the software installed on it. */
export const createSystemInfoPrograms = (): ProgramFactsByName => ({
  lscpu: createListing('aebcpxy', 'all extended parse online offline json hex physical bytes'),
  lsblk: createListing(
    'abdfilmnoprstJOP',
    'all bytes nodeps fs ascii list perms noheadings paths raw scsi sort json output-all pairs',
  ),
  locale: createListing('a', 'all-locales'),
  lsb_release: createListing('aidrcs', 'all id description release codename short'),
  // Without the options that close connections, write a file or enter other namespaces.
  ss: {
    ...createListing('tulnpaxwe46sHmio', 'tcp udp listening numeric processes all unix summary no-header ipv4 ipv6'),
    readsOnlyIn: 'host',
  },
  // Without `-n` it asks name servers for the names of the hosts it lists.
  netstat: {
    ...createListing('tulnpaersiWo46', 'tcp udp listening numeric program all route statistics interfaces wide'),
    readsOnlyIn: 'host',
    analyzeArgs: (args) =>
      args.some(({ text }) => /^-\w*n|^--numeric$/.test(text))
        ? undefined
        : refuse('netstat would look up host names.'),
  },
  // `+m` and `-D` may write files, so only ports and common letters are listed.
  lsof: {
    readsOnlyIn: 'host',
    opensNoFiles: true,
    dashOIsNotOutput: true,
    analyzeArgs: (args) =>
      args.some(({ text }) => /^-\w*n/.test(text)) &&
      args.every(({ kind, text }) => kind === 'literal' && PORT_ARG.test(text))
        ? READS_NOTHING
        : refuse('lsof with these arguments may do more than list ports, or look up host names.'),
  },
  // Only variables that hold no secrets, by name.
  printenv: {
    opensNoFiles: true,
    analyzeArgs: (args) =>
      args.length > 0 &&
      args.every(({ kind, text }) => kind === 'literal' && listPrintSafeExpansions().includes(`$${text}`))
        ? READS_NOTHING
        : refuse('The variables may contain secrets.'),
  },
  whereis: { opensNoFiles: true, readOnlyOptions: { short: 'bms', operands: 'text' } },
  // Further arguments would change something.
  ip: {
    readsOnlyIn: 'host',
    dashOIsNotOutput: true,
    versionQuery: { arg: /^(?:a|addr|address|l|link|r|route|n|neigh|rule)$/, unlessFiles: [] },
  },
  openssl: { versionQuery: { arg: /^version$/, unlessFiles: [] } },
  hugo: { versionQuery: { arg: /^version$/, unlessFiles: [] } },
  // The contents of a binary, without the sources that it names.
  nm: { reads: 'operands', dashOIsNotOutput: true, readOnlyOptions: { short: 'aACDgnpruS' } },
  size: { reads: 'operands', dashOIsNotOutput: true, readOnlyOptions: { short: 'ABdox' } },
  readelf: { reads: 'operands', dashOIsNotOutput: true, readOnlyOptions: { short: 'ahlSsedrnVW' } },
  objdump: { reads: 'operands', dashOIsNotOutput: true, readOnlyOptions: { short: 'dhfptTrRxC' } },
  journalctl: {
    readsOnlyIn: 'host',
    readOnlyOptions: {
      short: 'n:u=bkp=xr',
      long: 'no-pager since= until= unit= lines# boot priority= reverse',
      operands: 'none',
    },
  },
  // An operand with a slash is a file, which may include others.
  ...defineProgramFacts('man apropos whatis', {
    scriptOptions: ['-P', '--pager', '-H', '--html'],
    readOnlyOptions: { short: 'kf', operands: 'text' },
    analyzeArgs: (args) =>
      args.some(({ text }) => text.includes('/') || text.startsWith('--'))
        ? refuse('man with a path may read any file.')
        : undefined,
  }),
  dpkg: { readOnlySubcommands: { '-l': /^$/, '-L': /^$/, '-s': /^$/, '-S': /^$/, '--list': /^$/, '--status': /^$/ } },
  'apt-cache': { readOnlySubcommands: { policy: /^$/, show: /^$/, depends: /^$/, rdepends: /^$/ } },
});
