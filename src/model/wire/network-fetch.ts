import { createPrivateKey, X509Certificate } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import { messageOf } from '../../lib/errors.ts';
import { errnoOf } from '../../lib/files/errno.ts';
import { type ProxySetting, proxyFor } from '../../lib/network/proxy-setting.ts';
import { NetworkProblem } from './network-problem.ts';

/** What stands between us and a provider, as the environment says it. */
export type NetworkSettings = {
  readonly variables: Readonly<Record<string, string>>;
  readonly keyPassphrase: string | undefined;
};

type Certificate = { readonly cert: string; readonly key: string; readonly passphrase?: string };

const CERT = 'CLAUDE_CODE_CLIENT_CERT';
const KEY = 'CLAUDE_CODE_CLIENT_KEY';
const PASSPHRASE = 'CLAUDE_CODE_CLIENT_KEY_PASSPHRASE';

/** `fetch` that shows a client certificate where there is one, and names the proxy when that is what fails. */
export function createNetworkFetch(settings: NetworkSettings, send: typeof fetch = fetch): typeof fetch {
  const { variables } = settings;
  let certificate: Promise<Certificate | undefined> | undefined;
  return async (input, init) => {
    const address = input instanceof Request ? input.url : String(input);
    const proxy = proxyFor(address, variables);
    const unusable = proxy && whyUnusable(proxy);
    if (unusable !== undefined) throw new NetworkProblem('invalid', unusable);
    certificate ??= readCertificate(settings);
    const tls = address.startsWith('https:') ? await certificate : undefined;
    try {
      return await send(input, { ...init, ...(tls && { tls }), ...(proxy?.url && { proxy: proxy.url.href }) });
    } catch (thrown) {
      throw (proxy && proxyProblem(proxy, thrown)) ?? (tls && certificateProblem(variables, address, thrown)) ?? thrown;
    }
  };
}

function whyUnusable({ variable, url, shown }: ProxySetting): string | undefined {
  if (url === undefined) return `${variable} is "${shown}", which is not the address of a proxy. Correct or unset it.`;
  if (url.protocol === 'http:' || url.protocol === 'https:') return undefined;
  const kind = url.protocol.startsWith('socks') ? 'a SOCKS proxy' : `a proxy of the kind ${url.protocol.slice(0, -1)}`;
  return `${variable} names ${kind} (${shown}), and ouro can use HTTP proxies only. Set ${variable} to one, or unset it.`;
}

function proxyProblem({ variable, shown }: ProxySetting, thrown: unknown): NetworkProblem | undefined {
  const code = errnoOf(thrown) ?? '';
  const named = `the proxy ${shown} (${variable})`;
  const refused = /refused to open a tunnel: (\d+.*)/i.exec(messageOf(thrown))?.[1];
  if (refused !== undefined) {
    const kind = refused.startsWith('5') ? 'network' : 'invalid';
    const advice = refused.startsWith('407')
      ? ` Put a name and a password into ${variable}: http://name:password@host.`
      : '';
    return new NetworkProblem(kind, `${capital(named)} refuses to connect: ${refused}.${advice}`, { cause: thrown });
  }
  if (NO_PROXY_THERE.has(code)) {
    const words = `${capital(named)} cannot be reached (${code}). Start it, or correct or unset ${variable}.`;
    return new NetworkProblem('network', words, { cause: thrown });
  }
  if (code === 'Malformed_HTTP_Response' || code === 'EPROTO') {
    const words = `What answers at ${named} does not speak as an HTTP proxy does (${code}). Correct or unset ${variable}.`;
    return new NetworkProblem('invalid', words, { cause: thrown });
  }
  if (!BROKEN.has(code)) return undefined;
  return new NetworkProblem('network', `The connection through ${named} broke (${code}). Is it a proxy?`, {
    cause: thrown,
  });
}

const NO_PROXY_THERE: ReadonlySet<string> = new Set([
  'ECONNREFUSED',
  'ENOTFOUND',
  'EHOSTUNREACH',
  'ENETUNREACH',
  'EAI_AGAIN',
  'ETIMEDOUT',
  'FailedToOpenSocket',
]);
const BROKEN: ReadonlySet<string> = new Set(['ECONNRESET', 'EPIPE', 'ConnectionClosed']);

function certificateProblem(
  variables: NetworkSettings['variables'],
  address: string,
  thrown: unknown,
): NetworkProblem | undefined {
  const code = errnoOf(thrown) ?? '';
  if (code !== 'EPROTO' && !BROKEN.has(code)) return undefined;
  const { origin } = new URL(address);
  const words = `${origin} ended the connection (${code}): it may not accept the client certificate ${variables[CERT]} (${CERT}).`;
  return new NetworkProblem('network', words, { cause: thrown });
}

/** The certificate and its key, looked at before anybody else does: a library would only say that it has no connection. */
async function readCertificate({ variables, keyPassphrase }: NetworkSettings): Promise<Certificate | undefined> {
  const [certFile, keyFile] = [variables[CERT] ?? '', variables[KEY] ?? ''];
  if (certFile === '' && keyFile === '') return undefined;
  if (certFile === '' || keyFile === '') {
    throw new NetworkProblem('invalid', `A client certificate needs two files: set ${CERT} and ${KEY}, or neither.`);
  }
  const [cert, key] = await Promise.all([fileOf(CERT, certFile), fileOf(KEY, keyFile)]);
  const certificate = attempt(CERT, certFile, 'holds no certificate', () => new X509Certificate(cert));
  const wrongKey = `holds no key that can be read, or ${PASSPHRASE} is missing or wrong`;
  const secret = keyPassphrase === undefined ? {} : { passphrase: keyPassphrase };
  const opened = attempt(KEY, keyFile, wrongKey, () => createPrivateKey({ key, ...secret }));
  if (!certificate.checkPrivateKey(opened)) {
    throw new NetworkProblem('invalid', `The key in ${keyFile} (${KEY}) is not that of the certificate ${certFile}.`);
  }
  return { cert, key, ...secret };
}

async function fileOf(variable: string, file: string): Promise<string> {
  try {
    return await readFile(file, 'utf8');
  } catch (thrown) {
    const words = `${file} (${variable}) cannot be read: ${messageOf(thrown)}. Correct or unset ${variable}.`;
    throw new NetworkProblem('invalid', words, { cause: thrown });
  }
}

function attempt<Read>(variable: string, file: string, why: string, read: () => Read): Read {
  try {
    return read();
  } catch (thrown) {
    throw new NetworkProblem('invalid', `${file} (${variable}) ${why}.`, { cause: thrown });
  }
}

function capital(words: string): string {
  return words.charAt(0).toUpperCase() + words.slice(1);
}
