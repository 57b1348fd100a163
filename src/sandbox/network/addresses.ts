import { networkInterfaces } from 'node:os';
import { isAddress, isPublicAddress } from '../../lib/network/public-address.ts';
import { type Goal, namesHost } from './host-pattern.ts';

/** Where to connect, or why not. */
export type Resolved =
  | { readonly ok: true; readonly addresses: readonly string[] }
  | { readonly ok: false; readonly why: string; readonly found: 'nothing' | 'closed' };

export type Resolve = (host: string) => Promise<readonly string[]>;

/**
 * Looks a name up, once: what is connected to is what was looked at. Whoever owns a name says where it leads, so an
 * address that is not on the public internet counts only where the name itself, or that address, is in the settings.
 */
export async function resolveGoal(goal: Goal, named: readonly string[], resolve: Resolve): Promise<Resolved> {
  const found = isAddress(goal.host) ? [goal.host] : await resolve(goal.host).catch(() => []);
  if (found.length === 0) return { ok: false, found: 'nothing', why: `${goal.host} could not be found` };
  const isNamed = named.some((pattern) => namesHost(pattern, goal));
  const own = ownAddresses();
  const mayReach = (address: string): boolean => {
    if (named.some((pattern) => namesHost(pattern, { host: address, port: goal.port }))) return true;
    if (isPublicAddress(address)) return !own.has(address);
    return isNamed && (goal.host === 'localhost' || (!isOfMachine(address) && !own.has(address)));
  };
  const addresses = found.filter(mayReach);
  if (addresses.length > 0) return { ok: true, addresses };
  return { ok: false, found: 'closed', why: `${goal.host} leads to an address that is not on the public internet` };
}

/** This machine, its link, or what tells a machine in a cloud its secrets: never by a name alone. */
function isOfMachine(address: string): boolean {
  const four = address.replace(/^::ffff:(?=\d+\.)/i, '');
  return (
    /^(?:0\.|127\.|169\.254\.|2(?:2[4-9]|[345]\d)\.|100\.100\.100\.200$|168\.63\.129\.16$|192\.0\.0\.)/.test(four) ||
    /^(?:::$|::1$|::ffff:|fe[89ab]|ff|fd00:ec2:|fd20:ce:|fd00:c1:|fd00:42:|64:ff9b:|2002:)/i.test(four)
  );
}

function ownAddresses(): ReadonlySet<string> {
  return new Set(Object.values(networkInterfaces()).flatMap((each) => (each ?? []).map(({ address }) => address)));
}
