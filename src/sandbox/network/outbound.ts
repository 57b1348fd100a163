import { connect, type Socket } from 'node:net';
import { networkInterfaces } from 'node:os';
import { connect as connectSecurely } from 'node:tls';
import { isIpAddress, isPublicAddress } from '../../lib/network/ip-address.ts';
import { resolveProxy } from '../../lib/network/resolve-proxy.ts';
import { createByteReader } from './byte-reader.ts';
import { formatNetworkDestination, isExactHost, type NetworkDestination } from './host-pattern.ts';
import { connectToFirstAddress, type ProxyConnectResult, waitForConnect } from './proxy.ts';

/** The settings for outgoing connections. */
export type OutboundConnectionSettings = {
  readonly variables: Readonly<Record<string, string>>;
  readonly resolveHost: ResolveHost;
  /** Hosts and addresses listed in the settings. */
  readonly allowedHosts: readonly string[];
};

const HEAD_BYTES = 16_000;

/** Connects to an allowed destination: to a checked address, or through the proxy that this machine uses. */
export async function connectOutbound(
  destination: NetworkDestination,
  { variables, resolveHost, allowedHosts }: OutboundConnectionSettings,
): Promise<ProxyConnectResult> {
  const proxy = resolveProxy(`https://${formatNetworkDestination(destination)}/`, variables)?.url;
  try {
    if (proxy?.protocol.startsWith('http') === true && !isIpAddress(destination.host))
      return { ok: true, socket: await connectThroughProxy(proxy, destination) };
    const resolved = await resolveNetworkDestination(destination, allowedHosts, resolveHost);
    if (!resolved.ok)
      return { ok: false, kind: resolved.found === 'closed' ? 'refused' : 'unreachable', problem: resolved.problem };
    return { ok: true, socket: await connectToFirstAddress(resolved.addresses, destination.port) };
  } catch (thrown) {
    const why = thrown instanceof Error ? thrown.message : String(thrown);
    return {
      ok: false,
      kind: 'unreachable',
      problem: `${formatNetworkDestination(destination)} is unreachable: ${why}`,
    };
  }
}

async function connectThroughProxy(proxy: URL, destination: NetworkDestination): Promise<Socket> {
  const host = proxy.hostname.replace(/^\[(.*)\]$/, '$1');
  const port = Number(proxy.port || (proxy.protocol === 'https:' ? 443 : 80));
  const socket =
    proxy.protocol === 'https:' ? await connectTls(host, port) : await waitForConnect(connect({ host, port }));
  const login = Buffer.from(`${decodeURIComponent(proxy.username)}:${decodeURIComponent(proxy.password)}`);
  const headers = [
    `Host: ${formatNetworkDestination(destination)}`,
    ...(proxy.username === '' ? [] : [`Proxy-Authorization: Basic ${login.toString('base64')}`]),
  ];
  socket.write(`CONNECT ${formatNetworkDestination(destination)} HTTP/1.1\r\n${headers.join('\r\n')}\r\n\r\n`);
  const bytes = createByteReader(socket);
  const [, status = ''] = /^HTTP\/1\.[01] (\d{3})/.exec(await bytes.takeThrough('\r\n\r\n', HEAD_BYTES)) ?? [];
  const rest = bytes.rest();
  if (rest.length > 0) socket.unshift(rest);
  if (status.startsWith('2')) return socket;
  socket.destroy();
  throw new Error(`the proxy ${proxy.host} answered ${status || 'with an invalid response'}`);
}

function connectTls(host: string, port: number): Promise<Socket> {
  return new Promise((resolve, reject) => {
    const socket = connectSecurely({ host, port, servername: host });
    socket.once('secureConnect', () => resolve(socket)).once('error', reject);
  });
}

/** The addresses to connect to, or the reason why there are none. */
type ResolvedDestination =
  | { readonly ok: true; readonly addresses: readonly string[] }
  | { readonly ok: false; readonly problem: string; readonly found: 'nothing' | 'closed' };

/** Resolves a host name to addresses. */
type ResolveHost = (host: string) => Promise<readonly string[]>;

/**
 * Resolves a destination once, so that the connection goes to the addresses that were checked. The owner of a name
 * controls its addresses, so a non-public one is allowed only if the settings list the name or the address itself.
 * @internal
 */
export async function resolveNetworkDestination(
  destination: NetworkDestination,
  listed: readonly string[],
  resolve: ResolveHost,
): Promise<ResolvedDestination> {
  const found = isIpAddress(destination.host) ? [destination.host] : await resolve(destination.host).catch(() => []);
  if (found.length === 0) return { ok: false, found: 'nothing', problem: `${destination.host} could not be resolved` };
  const isListed = listed.some((pattern) => isExactHost(pattern, destination));
  const localAddresses = listLocalAddresses();
  const isAllowed = (address: string): boolean => {
    if (listed.some((pattern) => isExactHost(pattern, { host: address, port: destination.port }))) return true;
    if (isPublicAddress(address)) return !localAddresses.has(address);
    return isListed && (destination.host === 'localhost' || (!isHostLocal(address) && !localAddresses.has(address)));
  };
  const addresses = found.filter(isAllowed);
  if (addresses.length > 0) return { ok: true, addresses };
  return { ok: false, found: 'closed', problem: `${destination.host} resolves to an address that is not public` };
}

/** Loopback, link-local, multicast and cloud metadata addresses, which a listed name alone does not allow. */
function isHostLocal(address: string): boolean {
  const v4 = address.replace(/^::ffff:(?=\d+\.)/i, '');
  return (
    /^(?:0\.|127\.|169\.254\.|2(?:2[4-9]|[345]\d)\.|100\.100\.100\.200$|168\.63\.129\.16$|192\.0\.0\.)/.test(v4) ||
    /^(?:::$|::1$|::ffff:|fe[89ab]|ff|fd00:ec2:|fd20:ce:|fd00:c1:|fd00:42:|64:ff9b:|2002:)/i.test(v4)
  );
}

function listLocalAddresses(): ReadonlySet<string> {
  return new Set(
    Object.values(networkInterfaces()).flatMap((addresses) => (addresses ?? []).map(({ address }) => address)),
  );
}
