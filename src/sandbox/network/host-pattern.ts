import { isAddress } from '../../lib/network/public-address.ts';

/** Where a program wants to go. The name is in small letters and as the name servers know it. */
export type Goal = { readonly host: string; readonly port: number };

type Pattern = { readonly host: string; readonly below: boolean; readonly port: number | undefined };

/**
 * A host as a program named it: read once, as an address of the web is. Another spelling of an address is that address;
 * nothing that a name cannot hold gets through, so that nobody compares one name and connects to another.
 */
export function readGoal(host: string, port: number): Goal | undefined {
  if (!Number.isInteger(port) || port < 1 || port > 65_535) return undefined;
  const name = readName(host);
  return name === undefined ? undefined : { host: name, port };
}

/** As people and addresses write it. */
export function spelled({ host, port }: Goal): string {
  return `${host.includes(':') ? `[${host}]` : host}:${port}`;
}

/** `example.com`, `*.example.com` (what is below it), either with `:443`; addresses; `*` for everything. */
export function fitsPattern(text: string, { host, port }: Goal): boolean {
  const pattern = readPattern(text);
  if (pattern === undefined || (pattern.port !== undefined && pattern.port !== port)) return false;
  if (pattern.below) return pattern.host === '' || (host.endsWith(`.${pattern.host}`) && !isAddress(host));
  return host === pattern.host;
}

/** The same read as widely as a denial is meant: a host stands for all below it. */
export function fitsDenial(text: string, goal: Goal): boolean {
  const pattern = readPattern(text);
  return fitsPattern(text, goal) || (pattern !== undefined && !pattern.below && fitsPattern(`*.${text}`, goal));
}

/** Names exactly this host, not one of many. */
export function namesHost(text: string, goal: Goal): boolean {
  return !text.startsWith('*') && fitsPattern(text, goal);
}

/** What is wrong with a pattern of the settings; nothing for one that can be read. */
export function problemOfPattern(text: string): string | undefined {
  return readPattern(text) === undefined
    ? `"${text}" names no host. Write example.com, *.example.com, or either with :443.`
    : undefined;
}

function readPattern(text: string): Pattern | undefined {
  const [, star = '', host = '', port] =
    /^(\*\.|\*(?=$|:\d+$))?(\[[^\]]*\]|[^:[\]]*)(?::(\d{1,5}))?$/.exec(text.trim()) ?? [];
  const only = port === undefined ? undefined : Number(port);
  if (star === '*') return host === '' ? { host: '', below: true, port: only } : undefined;
  const name = readName(host);
  return name === undefined ? undefined : { host: name, below: star !== '', port: only };
}

function readName(text: string): string | undefined {
  const bare = text.startsWith('[') && text.endsWith(']') ? text.slice(1, -1) : text;
  if (bare === '' || bare.length > 253 || /[^\p{L}\p{M}\p{N}.:_-]/u.test(bare)) return undefined;
  const url = URL.parse(`http://${bare.includes(':') ? `[${bare}]` : bare}/`);
  const host = url?.hostname.replace(/^\[(.*)\]$/, '$1').replace(/\.$/, '');
  return host === undefined || host === '' || host.startsWith('.') || host.includes('..') ? undefined : host;
}
