import { ToolFailure } from '../../contracts/tool.ts';
import { isIpAddress, isPublicAddress } from '../../lib/network/ip-address.ts';

/** Resolves host names, and tells which addresses outside of the public internet the user allows. */
export type FetchAddressPolicy = {
  /** Returns all addresses of a host. */
  readonly resolve: (host: string) => Promise<readonly string[]>;
  readonly isAllowedAddress?: (address: string) => boolean;
};

/** A URL that may be fetched, with the address to connect to. */
export type CheckedFetchAddress = { readonly url: URL; readonly address: string };

/** Parses and validates a URL. */
export function parseFetchUrl(text: string): URL {
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

/**
 * Resolves the host and rejects addresses that are not public. Upgrades http to https, except for allowed addresses.
 */
export async function checkFetchAddress(url: URL, network: FetchAddressPolicy): Promise<CheckedFetchAddress> {
  const host = getHost(url);
  const addresses = isIpAddress(host) ? [host] : await resolveAddresses(host, network);
  const isOpened = addresses.every((address) => network.isAllowedAddress?.(address) === true);
  if (!isOpened && !addresses.every(isPublicAddress)) {
    throw new ToolFailure(
      `${host} leads to an address that is not on the public internet, so it is not fetched. For a server of this machine use a command.`,
    );
  }
  const [address] = addresses;
  if (address === undefined) throw new ToolFailure(`${host} has no address. Check the spelling of the host.`);
  return { url: isOpened ? url : toHttps(url), address };
}

async function resolveAddresses(host: string, network: FetchAddressPolicy): Promise<readonly string[]> {
  try {
    return await network.resolve(host);
  } catch (cause) {
    throw new ToolFailure(`${host} could not be found. Check the spelling of the host, and that there is a network.`, {
      cause,
    });
  }
}

/** Returns the host without the brackets of an IPv6 address. */
function getHost(url: URL): string {
  return url.hostname.replace(/^\[(.*)\]$/, '$1');
}

function toHttps(url: URL): URL {
  if (url.protocol === 'https:') return url;
  const httpsUrl = new URL(url);
  httpsUrl.protocol = 'https:';
  return httpsUrl;
}
