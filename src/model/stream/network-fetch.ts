import { createPrivateKey, X509Certificate } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import { getErrnoCode, getErrorMessage, getErrorPhrase } from '../../lib/errors.ts';
import { DIRECT, fetch } from '../../lib/network/fetch.ts';
import { type ProxySetting, resolveProxy } from '../../lib/network/resolve-proxy.ts';
import { NetworkSetupError } from './failures.ts';

/** Proxy and client certificate settings from the environment. */
export type NetworkSettings = {
  readonly variables: Readonly<Record<string, string>>;
  readonly keyPassphrase: string | undefined;
  /** File with further certificate authorities, from the settings; the runtime itself reads that of the environment. */
  readonly extraCaFile?: string | undefined;
};

type Certificate = { readonly cert: string; readonly key: string; readonly passphrase?: string };

const CERT_VARIABLE = 'CLAUDE_CODE_CLIENT_CERT';
const KEY_VARIABLE = 'CLAUDE_CODE_CLIENT_KEY';
const PASSPHRASE_VARIABLE = 'CLAUDE_CODE_CLIENT_KEY_PASSPHRASE';

/** Creates a `fetch` that uses the configured proxy and client certificate, and names them in errors they cause. */
export function createNetworkFetch(settings: NetworkSettings, send: typeof fetch = fetch): typeof fetch {
  const { variables } = settings;
  let tlsOptions: Promise<TlsOptions | undefined> | undefined;
  return async (input, init) => {
    const address = input instanceof Request ? input.url : String(input);
    const proxy = resolveProxy(address, variables);
    const proxyError = proxy && describeUnusableProxy(proxy);
    if (proxyError !== undefined) throw new NetworkSetupError('invalid', proxyError);
    tlsOptions ??= readTlsOptions(settings);
    const tls = address.startsWith('https:') ? await tlsOptions : undefined;
    try {
      const headers = requestUncompressed(input, init);
      return await send(input, {
        ...init,
        headers,
        ...(tls && { tls }),
        ...(proxy?.url ? { proxy: proxy.url.href } : DIRECT),
      });
    } catch (thrown) {
      throw (
        (proxy && toProxyProblem(proxy, thrown)) ??
        (tls && 'cert' in tls ? toCertificateProblem(variables, address, thrown) : undefined) ??
        thrown
      );
    }
  };
}

/** Asks for a plain reply: of a compressed one that is cut, the runtime prints its own error into the terminal. */
function requestUncompressed(...[input, init]: Parameters<typeof fetch>): Headers {
  const headers = new Headers(init?.headers ?? (input instanceof Request ? input.headers : undefined));
  if (!headers.has('accept-encoding')) headers.set('accept-encoding', 'identity');
  return headers;
}

function describeUnusableProxy({ variable, url, label }: ProxySetting): string | undefined {
  if (url === undefined) return `${variable} is "${label}", which is not a proxy address. Correct or unset it.`;
  if (url.protocol === 'http:' || url.protocol === 'https:') return undefined;
  const kind = url.protocol.startsWith('socks') ? 'SOCKS' : url.protocol.slice(0, -1);
  return `${variable} names a proxy of type ${kind} (${label}), but ouro supports only HTTP proxies. Set ${variable} to an HTTP proxy, or unset it.`;
}

function toProxyProblem({ variable, label }: ProxySetting, thrown: unknown): NetworkSetupError | undefined {
  const code = getErrnoCode(thrown) ?? '';
  const proxyLabel = `the proxy ${label} (${variable})`;
  const tunnelError = /refused to open a tunnel: (\d+.*)/i.exec(getErrorMessage(thrown))?.[1];
  if (tunnelError !== undefined) {
    const kind = tunnelError.startsWith('5') ? 'network' : 'invalid';
    const advice = tunnelError.startsWith('407')
      ? ` Add a user name and password to ${variable}: http://name:password@host.`
      : '';
    return new NetworkSetupError(kind, `${capitalize(proxyLabel)} refused to connect: ${tunnelError}.${advice}`, {
      cause: thrown,
    });
  }
  if (PROXY_UNREACHABLE_CODES.has(code)) {
    const message = `${capitalize(proxyLabel)} cannot be reached (${code}). Start it, or correct or unset ${variable}.`;
    return new NetworkSetupError('network', message, { cause: thrown });
  }
  if (code === 'Malformed_HTTP_Response' || code === 'EPROTO') {
    const message = `${capitalize(proxyLabel)} is not an HTTP proxy (${code}). Correct or unset ${variable}.`;
    return new NetworkSetupError('invalid', message, { cause: thrown });
  }
  if (!CONNECTION_LOST_CODES.has(code)) return undefined;
  return new NetworkSetupError(
    'network',
    `The connection through ${proxyLabel} was lost (${code}). Check that it is a proxy.`,
    {
      cause: thrown,
    },
  );
}

const PROXY_UNREACHABLE_CODES: ReadonlySet<string> = new Set([
  'ECONNREFUSED',
  'ENOTFOUND',
  'EHOSTUNREACH',
  'ENETUNREACH',
  'EAI_AGAIN',
  'ETIMEDOUT',
  'FailedToOpenSocket',
]);
const CONNECTION_LOST_CODES: ReadonlySet<string> = new Set(['ECONNRESET', 'EPIPE', 'ConnectionClosed']);

function toCertificateProblem(
  variables: NetworkSettings['variables'],
  address: string,
  thrown: unknown,
): NetworkSetupError | undefined {
  const code = getErrnoCode(thrown) ?? '';
  if (code !== 'EPROTO' && !CONNECTION_LOST_CODES.has(code)) return undefined;
  const { origin } = new URL(address);
  const message = `${origin} closed the connection (${code}): it may not accept the client certificate ${variables[CERT_VARIABLE]} (${CERT_VARIABLE}).`;
  return new NetworkSetupError('network', message, { cause: thrown });
}

type TlsOptions = Partial<Certificate> & { readonly ca?: readonly string[] };

async function readTlsOptions(settings: NetworkSettings): Promise<TlsOptions | undefined> {
  const [certificate, ca] = await Promise.all([readCertificate(settings), readAuthorities(settings.extraCaFile)]);
  if (ca === undefined) return certificate;
  return { ...certificate, ca };
}

const CA_VARIABLE = 'NODE_EXTRA_CA_CERTS';

/** Reads further certificate authorities. Given to `fetch` they replace the usual ones, which are added therefore. */
async function readAuthorities(file: string | undefined): Promise<readonly string[] | undefined> {
  if (file === undefined) return undefined;
  const text = await readText(CA_VARIABLE, file);
  parseFile(CA_VARIABLE, file, 'does not contain a certificate', () => new X509Certificate(text));
  // Loaded when needed: its import parses all root certificates, which takes several milliseconds.
  const { rootCertificates } = await import('node:tls');
  return [...rootCertificates, text];
}

/** Reads and checks the client certificate and its key: `fetch` would only report a failed connection. */
async function readCertificate({ variables, keyPassphrase }: NetworkSettings): Promise<Certificate | undefined> {
  const [certFile, keyFile] = [variables[CERT_VARIABLE] ?? '', variables[KEY_VARIABLE] ?? ''];
  if (certFile === '' && keyFile === '') return undefined;
  if (certFile === '' || keyFile === '') {
    throw new NetworkSetupError(
      'invalid',
      `A client certificate needs two files: set both ${CERT_VARIABLE} and ${KEY_VARIABLE}, or neither.`,
    );
  }
  const [cert, key] = await Promise.all([readText(CERT_VARIABLE, certFile), readText(KEY_VARIABLE, keyFile)]);
  const certificate = parseFile(
    CERT_VARIABLE,
    certFile,
    'does not contain a certificate',
    () => new X509Certificate(cert),
  );
  const invalidKey = `does not contain a readable key, or ${PASSPHRASE_VARIABLE} is missing or wrong`;
  const passphrase = keyPassphrase === undefined ? {} : { passphrase: keyPassphrase };
  const privateKey = parseFile(KEY_VARIABLE, keyFile, invalidKey, () => createPrivateKey({ key, ...passphrase }));
  if (!certificate.checkPrivateKey(privateKey)) {
    throw new NetworkSetupError(
      'invalid',
      `The key in ${keyFile} (${KEY_VARIABLE}) does not match the certificate ${certFile}.`,
    );
  }
  return { cert, key, ...passphrase };
}

async function readText(variable: string, file: string): Promise<string> {
  try {
    return await readFile(file, 'utf8');
  } catch (thrown) {
    const message = `${file} (${variable}) cannot be read: ${getErrorPhrase(thrown)}. Correct or unset ${variable}.`;
    throw new NetworkSetupError('invalid', message, { cause: thrown });
  }
}

function parseFile<Parsed>(variable: string, file: string, problem: string, parse: () => Parsed): Parsed {
  try {
    return parse();
  } catch (thrown) {
    throw new NetworkSetupError('invalid', `${file} (${variable}) ${problem}.`, { cause: thrown });
  }
}

function capitalize(message: string): string {
  return message.charAt(0).toUpperCase() + message.slice(1);
}
