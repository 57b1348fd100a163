import { SHOWN_EXPANSIONS } from '../words.ts';
import type { Program, Programs } from './program.ts';
import { NOTHING_READ, refused } from './reading.ts';

const listing = (short: string, long = ''): Program => ({
  opensNothing: true,
  otherO: true,
  readOnly: { short, long, operands: 'none' },
});

const PORTS = /^-(?:[nPt]*(?:i(?:tcp|udp|TCP|UDP)?(?::[\d,-]+)?)?|sTCP:LISTEN)$|^:[\d,-]+$/;

/** Programs that tell of the machine and of what is installed on it. */
export const MACHINE: Programs = {
  lscpu: listing('aebcpxy', 'all extended parse online offline json hex physical bytes'),
  lsblk: listing(
    'abdfilmnoprstJOP',
    'all bytes nodeps fs ascii list perms noheadings paths raw scsi sort json output-all pairs',
  ),
  locale: listing('a', 'all-locales'),
  lsb_release: listing('aidrcs', 'all id description release codename short'),
  // Letters that end connections, write a file or speak to other name spaces are not among them.
  ss: listing('tulnpaxwe46sHmior', 'tcp udp listening numeric processes all unix summary no-header ipv4 ipv6'),
  netstat: listing('tulnpaersiWo46', 'tcp udp listening numeric program all route statistics interfaces wide'),
  // `+m` and `-D` may write files: only ports and the usual letters.
  lsof: {
    opensNothing: true,
    otherO: true,
    grammar: (args) =>
      args.length > 0 && args.every(({ kind, text }) => kind === 'literal' && PORTS.test(text))
        ? NOTHING_READ
        : refused('Only listing who uses a port is known to be read-only.'),
  },
  // Values that are nobody's secret, by name.
  printenv: {
    opensNothing: true,
    grammar: (args) =>
      args.length > 0 && args.every(({ kind, text }) => kind === 'literal' && SHOWN_EXPANSIONS.includes(`$${text}`))
        ? NOTHING_READ
        : refused('The variables may hold keys.'),
  },
  whereis: { opensNothing: true, readOnly: { short: 'bms', operands: 'text' } },
  // More words would change something.
  ip: { otherO: true, says: { with: /^(?:a|addr|address|l|link|r|route|n|neigh|rule)$/, unless: [] } },
  openssl: { says: { with: /^version$/, unless: [] } },
  hugo: { says: { with: /^version$/, unless: [] } },
  // What is inside of a program, without the sources it names.
  nm: { reads: 'operands', otherO: true, readOnly: { short: 'aACDgnpruS' } },
  size: { reads: 'operands', otherO: true, readOnly: { short: 'ABdox' } },
  readelf: { reads: 'operands', otherO: true, readOnly: { short: 'ahlSsedrnVW' } },
  objdump: { reads: 'operands', otherO: true, readOnly: { short: 'dhfptTrRxC' } },
  dpkg: { looks: { '-l': /^$/, '-L': /^$/, '-s': /^$/, '-S': /^$/, '--list': /^$/, '--status': /^$/ } },
  'apt-cache': { looks: { policy: /^$/, show: /^$/, depends: /^$/, rdepends: /^$/ } },
};
