import type { Rule } from '../../contracts/permission.ts';

/** The host of a URL, or the reason why the URL is refused whatever the rules say. */
export type ParsedHost = { readonly ok: true; readonly host: string } | { readonly ok: false; readonly why: string };

/** Parses a URL the way the fetch will; unusual bytes, credentials and private hosts are refused. */
export function parseUrlHost(url: string): ParsedHost {
  if (/[\u0000-\u0020\u007f-\u00a0\\]/.test(url)) return { ok: false, why: 'The URL contains an invalid character.' };
  const parsed = URL.parse(url);
  if (parsed === null) return { ok: false, why: 'This is not a valid URL.' };
  if (parsed.protocol !== 'https:' && parsed.protocol !== 'http:')
    return { ok: false, why: `${parsed.protocol} URLs are not supported.` };
  if (parsed.username !== '' || parsed.password !== '')
    return { ok: false, why: 'The URL contains a user name or password.' };
  const host = parsed.hostname.replace(/\.$/, '');
  if (host === '' || isPrivate(host))
    return { ok: false, why: `${host || 'The empty host'} is on this machine or a private network.` };
  return { ok: true, host };
}

/** Returns whether a rule matches a host. `*.example.com` means subdomains, which deny and ask rules always include. */
export function matchesHostRule({ specifier, behavior }: Pick<Rule, 'specifier' | 'behavior'>, host: string): boolean {
  if (specifier === undefined) return true;
  const [, star = '', name = ''] = /^domain:(\*\.)?(.*?)\.?$/.exec(specifier) ?? [];
  const pattern = URL.parse(`https://${name}`)?.hostname ?? name.toLowerCase();
  const isSubdomain = host.endsWith(`.${pattern}`);
  return star === '' ? host === pattern || (isSubdomain && behavior !== 'allow') : isSubdomain;
}

function isPrivate(host: string): boolean {
  if (host.startsWith('[')) return isPrivateV6(host.slice(1, -1));
  if (host === 'localhost' || /\.(?:localhost|local|internal|home\.arpa|intranet|lan|corp)$/.test(host)) return true;
  const bytes = host.split('.').map(Number);
  const [a = 0, b = 0, c = 0] = bytes;
  if (bytes.length !== 4 || bytes.some((byte) => !Number.isInteger(byte))) return !host.includes('.');
  if (a === 0 || a === 10 || a === 127 || a >= 224) return true;
  if ((a === 100 && b >= 64 && b < 128) || (a === 169 && b === 254) || (a === 172 && b >= 16 && b < 32)) return true;
  return (
    (a === 192 && (b === 168 || (b === 0 && (c === 0 || c === 2)))) ||
    (a === 198 && (b === 18 || b === 19 || (b === 51 && c === 100))) ||
    (a === 203 && b === 0 && c === 113)
  );
}

/** Treats only global unicast addresses as public; not mapped, translated or tunnelled ones. */
function isPrivateV6(host: string): boolean {
  return !/^[23]/.test(host) || /^(?:2001:(?:0:|db8|:)|2002:)/.test(host);
}
