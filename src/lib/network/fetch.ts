import { isLoopbackUrl } from './resolve-proxy.ts';

/**
 * Sends a request like the `fetch` of the runtime, except that one to this machine never takes the proxy of the
 * environment, whatever `NO_PROXY` says.
 */
export const fetch: typeof globalThis.fetch = (input, init) => {
  const address = input instanceof Request ? input.url : String(input);
  return globalThis.fetch(input, isLoopbackUrl(address) ? { ...init, ...DIRECT } : init);
};

/** Keeps a request away from every proxy. Node ignores it: it uses proxies only when told to. */
export const DIRECT = { proxy: false };
