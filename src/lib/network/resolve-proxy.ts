/** The proxy of a request, as configured in the environment. */
export type ProxySetting = {
  /** Environment variable that sets it. */
  readonly variable: string;
  readonly url: URL | undefined;
  /** The proxy for display, without its password. */
  readonly label: string;
};

type Variables = Readonly<Record<string, string>>;

/** Returns the proxy for a URL from `https_proxy`, `http_proxy` and `no_proxy`; `undefined` for a direct connection. */
export function resolveProxy(address: string, variables: Variables): ProxySetting | undefined {
  if (!URL.canParse(address)) return undefined;
  const { protocol, hostname, port } = new URL(address);
  const names = protocol === 'https:' ? ['https_proxy', 'HTTPS_PROXY'] : ['http_proxy', 'HTTP_PROXY'];
  const variable = names.find((name) => (variables[name] ?? '').trim() !== '');
  if (variable === undefined) return undefined;
  const excluded = variables.no_proxy ?? variables.NO_PROXY ?? '';
  if (excluded.split(/[\s,]+/).some((rule) => matchesRule(rule.toLowerCase(), hostname, port))) return undefined;
  const value = (variables[variable] ?? '').trim();
  const withScheme = /^[a-z][a-z\d+.-]*:\/\//i.test(value) ? value : `http://${value}`;
  const url = URL.canParse(withScheme) ? new URL(withScheme) : undefined;
  return { variable, url, label: url === undefined ? value : `${url.protocol}//${url.host}` };
}

/** Matches one rule of `no_proxy`: `*`, or a host with its subdomains and an optional port. */
function matchesRule(rule: string, hostname: string, port: string): boolean {
  if (rule === '*') return true;
  const [, host = '', rulePort] = /^(?:\*?\.)?(.*?)(?::(\d+))?$/.exec(rule) ?? [];
  if (host === '' || (rulePort !== undefined && rulePort !== port)) return false;
  return hostname === host || hostname.endsWith(`.${host}`);
}
