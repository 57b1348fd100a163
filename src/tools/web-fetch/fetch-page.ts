import { ToolFailure } from '../../contracts/tool.ts';
import { checkAddress, type Network, readUrl } from './page-address.ts';
import type { Page } from './page-cache.ts';
import { pageText } from './page-text.ts';
import { type RequestLimits, requestPage } from './request-page.ts';

const MOST_REDIRECTS = 5;

/** A page, or the other host that an address leads to: going there is for the model to ask. */
export type Fetched =
  | { readonly kind: 'page'; readonly page: Page }
  | { readonly kind: 'elsewhere'; readonly url: string };

/** Follows redirects inside one host; every step is resolved and checked anew. */
export async function fetchPage(
  start: URL,
  network: Network,
  limits: RequestLimits,
  signal: AbortSignal,
): Promise<Fetched> {
  let checked = await checkAddress(start, network);
  for (let step = 0; step <= MOST_REDIRECTS; step += 1) {
    signal.throwIfAborted();
    const response = await requestPage(checked, limits, signal);
    if (response.kind === 'page') {
      const { status, contentType, body } = response;
      const text = await pageText(body, contentType);
      return { kind: 'page', page: { url: checked.url.href, status, bytes: body.length, text } };
    }
    const next = redirectTarget(response.location, checked.url);
    if (next.hostname !== checked.url.hostname) return { kind: 'elsewhere', url: next.href };
    checked = await checkAddress(next, network);
  }
  throw new ToolFailure(`${start.host} redirects in circles. Try another address of the page.`);
}

function redirectTarget(location: string, from: URL): URL {
  if (!URL.canParse(location, from.href)) throw new ToolFailure(`${from.host} redirects to something that is no URL.`);
  return readUrl(new URL(location, from.href).href);
}
