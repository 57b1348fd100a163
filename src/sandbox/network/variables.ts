/** Stays inside: what commands serve for each other. */
const INSIDE = 'localhost,.localhost,127.0.0.1,127.0.0.0/8,::1';

/** The variables by which programs find their way out. One door understands them all, SOCKS 5 as well. */
export function proxyVariables(door: URL, before: string | undefined): Readonly<Record<string, string>> {
  const { hostname, port } = door;
  const url = door.href.replace(/\/$/, '');
  const named = ['HTTP_PROXY', 'HTTPS_PROXY', 'ALL_PROXY', 'GRPC_PROXY'];
  const java = ['http', 'https'].map((kind) => `-D${kind}.proxyHost=${hostname} -D${kind}.proxyPort=${port}`);
  return {
    ...Object.fromEntries(named.flatMap((name) => [name, name.toLowerCase()].map((each) => [each, url]))),
    ...{ NO_PROXY: INSIDE, no_proxy: INSIDE, NODE_USE_ENV_PROXY: '1', YARN_HTTP_PROXY: url, YARN_HTTPS_PROXY: url },
    JAVA_TOOL_OPTIONS: [
      ...(before === undefined ? [] : [before]),
      ...java,
      '-Dhttp.nonProxyHosts=localhost|127.*|[::1]',
    ].join(' '),
  };
}
