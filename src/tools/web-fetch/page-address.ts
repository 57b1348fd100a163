import { ToolFailure } from '../../contracts/tool.ts';
import { isAddress, isPublicAddress } from '../../lib/network/public-address.ts';

/** Where names lead, and which addresses beyond the public internet the user opened. */
export type Network = {
  /** Every address of a host name. */
  readonly resolve: (host: string) => Promise<readonly string[]>;
  readonly isAllowedAddress?: (address: string) => boolean;
};

/** A URL that may be fetched, with the one address to connect to. */
export type CheckedAddress = { readonly url: URL; readonly address: string };

/** Reads a URL once; everything after this uses what was read. */
export function readUrl(text: string): URL {
  const url = URL.canParse(text) ? new URL(text) : undefined;
  if (url === undefined) throw new ToolFailure(`"${text.slice(0, 200)}" is not a URL. Give it whole, with https://.`);
  if (url.protocol !== 'https:' && url.protocol !== 'http:') {
    throw new ToolFailure(`Only https addresses are fetched, not ${url.protocol} ones. Use Read for local files.`);
  }
  if (url.username !== '' || url.password !== '') {
    throw new ToolFailure('A URL with a name or password in it is not fetched. Leave them out.');
  }
  url.hash = '';
  return url;
}

/** Resolves the host and refuses what is not public. Plain http becomes https, except where the user opened an address. */
export async function checkAddress(url: URL, network: Network): Promise<CheckedAddress> {
  const host = hostOf(url);
  const addresses = isAddress(host) ? [host] : await resolved(host, network);
  const opened = addresses.every((address) => network.isAllowedAddress?.(address) === true);
  if (!opened && !addresses.every(isPublicAddress)) {
    throw new ToolFailure(
      `${host} leads to an address that is not on the public internet, so it is not fetched. For a server of this machine use a command.`,
    );
  }
  const [address] = addresses;
  if (address === undefined) throw new ToolFailure(`${host} has no address. Check the spelling of the host.`);
  return { url: opened ? url : secured(url), address };
}

async function resolved(host: string, network: Network): Promise<readonly string[]> {
  try {
    return await network.resolve(host);
  } catch (cause) {
    throw new ToolFailure(`${host} could not be found. Check the spelling of the host, and that there is a network.`, {
      cause,
    });
  }
}

/** The host without the brackets of an IPv6 address. */
function hostOf(url: URL): string {
  return url.hostname.replace(/^\[(.*)\]$/, '$1');
}

function secured(url: URL): URL {
  if (url.protocol === 'https:') return url;
  const secure = new URL(url);
  secure.protocol = 'https:';
  return secure;
}
