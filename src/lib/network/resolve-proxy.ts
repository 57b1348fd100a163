/** The proxy of a request, as configured in the environment. */
export type ProxySetting = {
  /** Environment variable that sets it. */
  readonly variable: string;
  readonly url: URL | undefined;
  /** The proxy for display, without its password. */
  readonly label: string;
};

type Variables = Readonly<Record<string, string>>;

/**
 * Returns the proxy for a URL from `https_proxy`, `http_proxy`, `all_proxy` and `no_proxy`; `undefined` for a direct
 * connection, which loopback addresses always get: a proxy of another machine would look for the server there.
 */
export function resolveProxy(address: string, variables: Variables): ProxySetting | undefined {
  if (!URL.canParse(address) || isLoopbackUrl(address)) return undefined;
  const { protocol, hostname, port } = new URL(address);
  const names = protocol === 'https:' ? ['https_proxy', 'HTTPS_PROXY'] : ['http_proxy', 'HTTP_PROXY'];
  const read = (name: string) => (variables[name] ?? '').trim();
  const variable =
    names.find((name) => read(name) !== '') ??
    // Desktops set these to their SOCKS proxy for the programs that can use one. The runtime ignores such a value too.
    ['all_proxy', 'ALL_PROXY'].find((name) => /^(?:https?:\/\/|(?!.*:\/\/))./i.test(read(name)));
  if (variable === undefined) return undefined;
  const excluded = variables.no_proxy || variables.NO_PROXY || '';
  if (excluded.split(/[\s,]+/).some((rule) => matchesRule(rule.toLowerCase(), hostname, port))) return undefined;
  const value = read(variable);
  const withScheme = /^[a-z][a-z\d+.-]*:\/\//i.test(value) ? value : `http://${value}`;
  const url = URL.canParse(withScheme) ? new URL(withScheme) : undefined;
  return { variable, url, label: url === undefined ? value : `${url.protocol}//${url.host}` };
}

/** Returns variables for a program that asks servers itself, such as npm: those of this machine without the proxy. */
export function exemptLoopback(variables: Variables): Variables {
  const excluded = [variables.no_proxy || variables.NO_PROXY || '', 'localhost', '127.0.0.1', '::1'];
  const value = excluded.filter((rule) => rule !== '').join(',');
  return { ...variables, no_proxy: value, NO_PROXY: value };
}

/** Returns whether a URL leads to this machine: a loopback address, the unspecified address, or `localhost`. */
export function isLoopbackUrl(address: string): boolean {
  if (!URL.canParse(address)) return false;
  return LOOPBACK_HOST.test(new URL(address).hostname);
}

/** Hosts as `URL` writes them. */
const LOOPBACK_HOST =
  /^(?:127\.[\d.]+|0\.0\.0\.0|\[::1?\]|\[::ffff:(?:7f[\da-f]{2}|0):[\da-f]+\]|(?:.+\.)?localhost\.?)$/;

/** Matches one rule of `no_proxy`: `*`, or a host with its subdomains and an optional port. */
function matchesRule(rule: string, hostname: string, port: string): boolean {
  if (rule === '*') return true;
  const [, host = '', rulePort] = /^(?:\*?\.)?(.*?)(?::(\d+))?$/.exec(rule) ?? [];
  if (host === '' || (rulePort !== undefined && rulePort !== port)) return false;
  return hostname === host || hostname.endsWith(`.${host}`);
}
