import { type Goal, readGoal } from './host-pattern.ts';

/** What a program that speaks HTTP to a proxy wants. */
export type HttpRequest = {
  readonly kind: 'tunnel' | 'forward';
  readonly goal: Goal | undefined;
  readonly spelled: string;
  /** What came with the request as name and password. */
  readonly token: string;
  /** The head as the server is to read it: only when it is forwarded. */
  readonly head: string;
};

/** Reads the head of one request; `undefined` when it is none that a proxy is sent. */
export function readHttpHead(text: string): HttpRequest | undefined {
  const [first = '', ...lines] = text.slice(0, -4).split('\r\n');
  const [, method = '', target = '', version = ''] = /^([A-Z]{1,20}) (\S+) HTTP\/(1\.[01])$/.exec(first) ?? [];
  const headers = lines.map((line) => ({ line, name: line.slice(0, Math.max(0, line.indexOf(':'))).toLowerCase() }));
  if (method === '' || headers.some(({ name }) => !/^[!#$%&'*+.^_`|~\da-z-]+$/.test(name))) return undefined;
  const token = tokenOf(headers.find(({ name }) => name === 'proxy-authorization')?.line ?? '');
  if (method === 'CONNECT') {
    const [, host = '', port = ''] = /^(\[[^\]]+\]|[^:]+):(\d{1,5})$/.exec(target) ?? [];
    return { kind: 'tunnel', goal: readGoal(host, Number(port)), spelled: target, token, head: '' };
  }
  const [, authority = '', path = ''] = /^http:\/\/([^/?#]+)([^#]*)/i.exec(target) ?? [];
  if (authority === '') return undefined;
  const [, host = '', port = '80'] = /^(\[[^\]]+\]|[^:@]+)(?::(\d{1,5}))?$/.exec(authority) ?? [];
  const isUpgrade = headers.some(({ name }) => name === 'upgrade');
  const kept = headers.filter(({ name }) => !OF_THE_WAY.includes(name) && (isUpgrade || name !== 'connection'));
  const head = [
    `${method} ${path.startsWith('/') ? path : `/${path}`} HTTP/${version}`,
    `Host: ${authority}`,
    ...kept.filter(({ name }) => name !== 'host').map(({ line }) => line),
    // One request each: what came behind it would otherwise go to the same server, whatever it asks for.
    ...(isUpgrade ? [] : ['Connection: close']),
  ];
  return {
    kind: 'forward',
    goal: readGoal(host, Number(port)),
    spelled: authority,
    token,
    head: `${head.join('\r\n')}\r\n\r\n`,
  };
}

/** Said to the proxy alone. */
const OF_THE_WAY: readonly string[] = ['proxy-authorization', 'proxy-connection', 'keep-alive'];

/** A whole answer of the proxy's own, in words that programs print. */
export function httpAnswer(status: string, text: string, headers: readonly string[] = []): string {
  const body = `${text}\n`;
  const own = [
    'Content-Type: text/plain; charset=utf-8',
    `Content-Length: ${Buffer.byteLength(body)}`,
    'Connection: close',
  ];
  return `HTTP/1.1 ${status}\r\n${[...own, ...headers].join('\r\n')}\r\n\r\n${body}`;
}

function tokenOf(line: string): string {
  const [, coded = ''] = /^[^:]*:\s*basic\s+([\w+/=-]+)\s*$/i.exec(line) ?? [];
  return Buffer.from(coded, 'base64')
    .toString('latin1')
    .replace(/^[^:]*:/, '');
}
