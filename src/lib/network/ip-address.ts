/** IPv4 networks that are not the public internet, as address and prefix length. */
const NON_PUBLIC_V4: readonly (readonly [string, number])[] = [
  ['0.0.0.0', 8],
  ['10.0.0.0', 8],
  ['100.64.0.0', 10],
  ['127.0.0.0', 8],
  ['168.63.129.16', 32],
  ['169.254.0.0', 16],
  ['172.16.0.0', 12],
  ['192.0.0.0', 24],
  ['192.0.2.0', 24],
  ['192.88.99.0', 24],
  ['192.168.0.0', 16],
  ['198.18.0.0', 15],
  ['198.51.100.0', 24],
  ['203.0.113.0', 24],
  ['224.0.0.0', 4],
  ['240.0.0.0', 4],
];

/** Returns whether a text is an IP address on the public internet; `false` for anything that cannot be parsed. */
export function isPublicAddress(address: string): boolean {
  const v4 = parseV4(address);
  if (v4 !== undefined) return isPublicV4(v4);
  const v6 = parseV6(address);
  return v6 !== undefined && isPublicV6(v6);
}

/** Returns whether a text is an IP address and not a host name. */
export function isIpAddress(text: string): boolean {
  return parseV4(text) !== undefined || parseV6(text) !== undefined;
}

function isPublicV4(bits: number): boolean {
  return !NON_PUBLIC_V4.some(([network, length]) => {
    const size = 2 ** (32 - length);
    return Math.floor(bits / size) === Math.floor((parseV4(network) ?? 0) / size);
  });
}

/** Accepts global unicast (2000::/3) without tunnels for IPv4, documentation and reserved networks. */
function isPublicV6(groups: readonly number[]): boolean {
  const [first = 0, second = 0] = groups;
  // NAT64 carries an IPv4 address in its last two groups.
  if (first === 0x64 && second === 0xff9b && groups.slice(2, 6).every((group) => group === 0)) {
    return isPublicV4((groups[6] ?? 0) * 65_536 + (groups[7] ?? 0));
  }
  if (first < 0x2000 || first > 0x3fff) return false;
  if (first === 0x2001 && (second < 0x0200 || second === 0x0db8)) return false;
  return first !== 0x2002 && !(first === 0x3fff && second < 0x1000);
}

function parseV4(text: string): number | undefined {
  const parts = text.split('.');
  if (parts.length !== 4) return undefined;
  let bits = 0;
  for (const part of parts) {
    const value = Number(part);
    if (!/^\d{1,3}$/.test(part) || value > 255) return undefined;
    bits = bits * 256 + value;
  }
  return bits;
}

/** Parses an IPv6 address to its eight groups. An address with a zone (`%eth0`) is rejected. */
function parseV6(text: string): readonly number[] | undefined {
  const [left = '', right, ...more] = expandDottedEnding(text).split('::');
  if (more.length > 0) return undefined;
  const head = parseGroups(left);
  const tail = right === undefined ? [] : parseGroups(right);
  const missing = 8 - head.length - tail.length;
  if (right === undefined ? missing !== 0 : missing < 1) return undefined;
  const groups = [...head, ...Array.from({ length: missing }, () => 0), ...tail];
  return groups.every((group) => Number.isInteger(group) && group >= 0 && group <= 0xffff) ? groups : undefined;
}

function parseGroups(part: string): readonly number[] {
  if (part === '') return [];
  return part.split(':').map((group) => (/^[\da-f]{1,4}$/i.test(group) ? Number.parseInt(group, 16) : Number.NaN));
}

/** Replaces a dotted ending (`::ffff:10.0.0.1`) by two groups. */
function expandDottedEnding(text: string): string {
  const at = text.lastIndexOf(':');
  const bits = parseV4(text.slice(at + 1));
  if (at === -1 || bits === undefined) return text;
  return `${text.slice(0, at + 1)}${Math.floor(bits / 65_536).toString(16)}:${(bits % 65_536).toString(16)}`;
}
