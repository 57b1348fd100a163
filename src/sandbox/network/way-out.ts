import { connect, type Socket } from 'node:net';
import { connect as connectSecurely } from 'node:tls';
import { proxyFor } from '../../lib/network/proxy-setting.ts';
import { isAddress } from '../../lib/network/public-address.ts';
import { type Resolve, resolveGoal } from './addresses.ts';
import { readBytes } from './byte-reader.ts';
import { type Goal, spelled } from './host-pattern.ts';
import { connectTo, opened, type Passage } from './proxy.ts';

export type WayOut = {
  readonly variables: Readonly<Record<string, string>>;
  readonly resolve: Resolve;
  /** Hosts and addresses that the person named. */
  readonly named: readonly string[];
};

const HEAD_BYTES = 16_000;

/** A connection to an allowed host: to an address that was looked at, or through the proxy this machine has to use. */
export async function openWay(goal: Goal, { variables, resolve, named }: WayOut): Promise<Passage> {
  const proxy = proxyFor(`https://${spelled(goal)}/`, variables)?.url;
  try {
    if (proxy?.protocol.startsWith('http') === true && !isAddress(goal.host))
      return { ok: true, socket: await throughProxy(proxy, goal) };
    const resolved = await resolveGoal(goal, named, resolve);
    if (!resolved.ok)
      return { ok: false, kind: resolved.found === 'closed' ? 'refused' : 'unreachable', why: resolved.why };
    return { ok: true, socket: await connectTo(resolved.addresses, goal.port) };
  } catch (thrown) {
    const why = thrown instanceof Error ? thrown.message : String(thrown);
    return { ok: false, kind: 'unreachable', why: `${spelled(goal)} could not be reached: ${why}` };
  }
}

async function throughProxy(proxy: URL, goal: Goal): Promise<Socket> {
  const host = proxy.hostname.replace(/^\[(.*)\]$/, '$1');
  const port = Number(proxy.port || (proxy.protocol === 'https:' ? 443 : 80));
  const socket = proxy.protocol === 'https:' ? await secured(host, port) : await opened(connect({ host, port }));
  const login = Buffer.from(`${decodeURIComponent(proxy.username)}:${decodeURIComponent(proxy.password)}`);
  const headers = [
    `Host: ${spelled(goal)}`,
    ...(proxy.username === '' ? [] : [`Proxy-Authorization: Basic ${login.toString('base64')}`]),
  ];
  socket.write(`CONNECT ${spelled(goal)} HTTP/1.1\r\n${headers.join('\r\n')}\r\n\r\n`);
  const bytes = readBytes(socket);
  const [, status = ''] = /^HTTP\/1\.[01] (\d{3})/.exec(await bytes.takeThrough('\r\n\r\n', HEAD_BYTES)) ?? [];
  const rest = bytes.rest();
  if (rest.length > 0) socket.unshift(rest);
  if (status.startsWith('2')) return socket;
  socket.destroy();
  throw new Error(`the proxy ${proxy.host} answered ${status || 'nothing that can be read'}`);
}

function secured(host: string, port: number): Promise<Socket> {
  return new Promise((resolve, reject) => {
    const socket = connectSecurely({ host, port, servername: host });
    socket.once('secureConnect', () => resolve(socket)).once('error', reject);
  });
}
