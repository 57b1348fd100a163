import { isIpAddress } from '../../lib/network/ip-address.ts';

/** A destination of a connection. The host is lowercase and in ASCII (punycode) form. */
export type NetworkDestination = { readonly host: string; readonly port: number };

type Pattern = { readonly host: string; readonly subdomains: boolean; readonly port: number | undefined };

/**
 * Parses a host as named by a program, the way URLs are parsed. Every spelling of an address becomes that address, and
 * invalid names are refused, so that the compared name is the one that is connected to.
 */
export function parseNetworkDestination(host: string, port: number): NetworkDestination | undefined {
  if (!Number.isInteger(port) || port < 1 || port > 65_535) return undefined;
  const name = normalizeHost(host);
  return name === undefined ? undefined : { host: name, port };
}

/** Formats a destination as `host:port`. */
export function formatNetworkDestination({ host, port }: NetworkDestination): string {
  return `${host.includes(':') ? `[${host}]` : host}:${port}`;
}

/** Matches `example.com`, `*.example.com` (its subdomains), both optionally with `:443`, addresses, and `*` for all. */
export function matchesHostPattern(text: string, { host, port }: NetworkDestination): boolean {
  const pattern = parsePattern(text);
  if (pattern === undefined || (pattern.port !== undefined && pattern.port !== port)) return false;
  if (pattern.subdomains) return pattern.host === '' || (host.endsWith(`.${pattern.host}`) && !isIpAddress(host));
  return host === pattern.host;
}

/** Matches like `matchesHostPattern`, but a plain host also covers its subdomains, as deny rules do. */
export function matchesDeniedHost(text: string, destination: NetworkDestination): boolean {
  const pattern = parsePattern(text);
  return (
    matchesHostPattern(text, destination) ||
    (pattern !== undefined && !pattern.subdomains && matchesHostPattern(`*.${text}`, destination))
  );
}

/** Returns whether a pattern names exactly this host, without a wildcard. */
export function isExactHost(text: string, destination: NetworkDestination): boolean {
  return !text.startsWith('*') && matchesHostPattern(text, destination);
}

/** Returns the problem of a host pattern in the settings; undefined if it is valid. */
export function findHostPatternProblem(text: string): string | undefined {
  return parsePattern(text) === undefined
    ? `"${text}" is not a valid host pattern. Use example.com or *.example.com, optionally with a port.`
    : undefined;
}

function parsePattern(text: string): Pattern | undefined {
  const [, star = '', host = '', port] =
    /^(\*\.|\*(?=$|:\d+$))?(\[[^\]]*\]|[^:[\]]*)(?::(\d{1,5}))?$/.exec(text.trim()) ?? [];
  const portNumber = port === undefined ? undefined : Number(port);
  if (star === '*') return host === '' ? { host: '', subdomains: true, port: portNumber } : undefined;
  const name = normalizeHost(host);
  return name === undefined ? undefined : { host: name, subdomains: star !== '', port: portNumber };
}

function normalizeHost(text: string): string | undefined {
  const unbracketed = text.startsWith('[') && text.endsWith(']') ? text.slice(1, -1) : text;
  if (unbracketed === '' || unbracketed.length > 253 || /[^\p{L}\p{M}\p{N}.:_-]/u.test(unbracketed)) return undefined;
  const url = URL.parse(`http://${unbracketed.includes(':') ? `[${unbracketed}]` : unbracketed}/`);
  const host = url?.hostname.replace(/^\[(.*)\]$/, '$1').replace(/\.$/, '');
  return host === undefined || host === '' || host.startsWith('.') || host.includes('..') ? undefined : host;
}
