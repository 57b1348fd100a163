/** The proxy that a request has to pass, as it is configured. */
export type ProxySetting = {
  /** The variable it stands in. */
  readonly variable: string;
  readonly url: URL | undefined;
  /** As people know it, without a password. */
  readonly shown: string;
};

type Variables = Readonly<Record<string, string>>;

/** The proxy for an address, by the variables that curl and most programs know; `undefined` when it is reached directly. */
export function proxyFor(address: string, variables: Variables): ProxySetting | undefined {
  if (!URL.canParse(address)) return undefined;
  const { protocol, hostname, port } = new URL(address);
  const names = protocol === 'https:' ? ['https_proxy', 'HTTPS_PROXY'] : ['http_proxy', 'HTTP_PROXY'];
  const variable = names.find((name) => (variables[name] ?? '').trim() !== '');
  if (variable === undefined) return undefined;
  const excluded = variables.no_proxy ?? variables.NO_PROXY ?? '';
  if (excluded.split(/[\s,]+/).some((rule) => excludes(rule.toLowerCase(), hostname, port))) return undefined;
  const value = (variables[variable] ?? '').trim();
  const written = /^[a-z][a-z\d+.-]*:\/\//i.test(value) ? value : `http://${value}`;
  const url = URL.canParse(written) ? new URL(written) : undefined;
  return { variable, url, shown: url === undefined ? value : `${url.protocol}//${url.host}` };
}

/** `*`, a host with everything below it, either with a port. */
function excludes(rule: string, hostname: string, port: string): boolean {
  if (rule === '*') return true;
  const [, host = '', only] = /^(?:\*?\.)?(.*?)(?::(\d+))?$/.exec(rule) ?? [];
  if (host === '' || (only !== undefined && only !== port)) return false;
  return hostname === host || hostname.endsWith(`.${host}`);
}
