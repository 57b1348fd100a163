import type { BlockList } from 'node:net';
import { createLazy } from '../memoize.ts';

/** IPv4 networks that are not the public internet. */
const NON_PUBLIC_V4 = [
  ...['0.0.0.0/8', '10.0.0.0/8', '100.64.0.0/10', '127.0.0.0/8', '168.63.129.16/32', '169.254.0.0/16', '172.16.0.0/12'],
  ...['192.0.0.0/24', '192.0.2.0/24', '192.88.99.0/24', '192.168.0.0/16', '198.18.0.0/15', '198.51.100.0/24'],
  ...['203.0.113.0/24', '224.0.0.0/4', '240.0.0.0/4'],
];
/** Global unicast, and NAT64, which carries an IPv4 address in its last 32 bits. */
const PUBLIC_V6 = ['2000::/3', '64:ff9b::/96'];
/** Tunnels for IPv4, documentation and reserved networks within global unicast. */
const NON_PUBLIC_V6 = ['2001::/23', '2001:db8::/32', '2002::/16', '3fff::/20'];

/** Loading this module takes 6 ms, and few starts need it. */
const loadNet = createLazy(() => process.getBuiltinModule('node:net'));

const getNonPublicV4 = createLazy(() => createNetworks(NON_PUBLIC_V4, 'ipv4'));
const getPublicV6 = createLazy(() => createNetworks(PUBLIC_V6, 'ipv6'));
const getNonPublicV6 = createLazy(() => createNetworks([...NON_PUBLIC_V6, ...NON_PUBLIC_V4.map(toNat64)], 'ipv6'));

/** Returns whether a text is an IP address on the public internet; `false` for anything that cannot be parsed. */
export function isPublicAddress(address: string): boolean {
  if (!isIpAddress(address)) return false;
  if (loadNet().isIP(address) === 4) return !getNonPublicV4().check(address, 'ipv4');
  return getPublicV6().check(address, 'ipv6') && !getNonPublicV6().check(address, 'ipv6');
}

/** Returns whether a text is an IP address and not a host name. An address with a zone (`%eth0`) is none. */
export function isIpAddress(text: string): boolean {
  return loadNet().isIP(text) !== 0 && !text.includes('%');
}

function createNetworks(networks: readonly string[], family: 'ipv4' | 'ipv6'): BlockList {
  const list = new (loadNet().BlockList)();
  for (const network of networks) {
    const [address = '', length] = network.split('/');
    list.addSubnet(address, Number(length), family);
  }
  return list;
}

function toNat64(network: string): string {
  const [address, length] = network.split('/');
  return `64:ff9b::${address}/${96 + Number(length)}`;
}
