import type { ModelFailure } from '../../contracts/model.ts';
import { isObjectOrArray } from '../../lib/json.ts';
import { isLoopbackUrl } from '../../lib/network/resolve-proxy.ts';
import { CLIENT_CERTIFICATE_HINT, classifyErrorResponse } from './error-response.ts';

/** Failure of a reply that the user or the host interrupted. */
export const ABORTED_FAILURE: ModelFailure = { kind: 'aborted', message: 'Interrupted.' };

/** Failure of a reply whose body ended or whose connection broke before it was complete. */
export const CONNECTION_LOST_FAILURE: ModelFailure = {
  kind: 'cut',
  message: 'The connection closed before the reply was complete.',
};

/** Failure of a reply with a part that is neither text nor a call, or without an announced call. Retried. */
export const MALFORMED_REPLY_FAILURE: ModelFailure = {
  kind: 'cut',
  message: 'The server sent a malformed reply: a tool call or another part of it is missing or unreadable.',
};

/** Failure of a reply that is larger than any model writes. Not retried: the next one would be as large. */
export const OVERSIZED_REPLY_FAILURE: ModelFailure = {
  kind: 'invalid',
  message: 'The server sent more data than any reply of a model holds. Check that the base URL is that of a model API.',
};

/** Failure of a reply with one event that is larger than any of a model. Not retried, like a reply that is too large. */
export const OVERSIZED_EVENT_FAILURE: ModelFailure = {
  kind: 'invalid',
  message: 'The server sent more than 16 MB in one part of the reply. Check that the base URL is that of a model API.',
};

/** Classifies an `error` event of a stream, which has a type but no status. */
export function classifyErrorEvent(data: string, requestId?: string | null): ModelFailure {
  return classifyErrorResponse({
    status: undefined,
    body: data,
    header: (name) => (name === 'request-id' ? requestId : undefined),
  });
}

/** Classifies an error thrown before the response headers arrived: an error response or a failed connection. */
export function classifyThrown(thrown: unknown, address: string): ModelFailure {
  const response = readErrorResponse(thrown);
  if (response) return classifyErrorResponse(response);
  const knownFailure = findKnownFailure(thrown);
  if (knownFailure !== undefined) return knownFailure;
  const code = findErrorCode(thrown);
  const messages = joinMessages(thrown);
  if (/CERT|SELF_SIGNED|UNABLE_TO_VERIFY|ERR_TLS/i.test(`${code} ${messages}`)) {
    const [problem, advice] = CERTIFICATE_PROBLEMS[code] ?? UNTRUSTED_CERTIFICATE;
    return { kind: 'invalid', message: `The certificate of ${address} ${problem} (${code || messages}). ${advice}` };
  }
  if (code === 'EPROTO') {
    return {
      kind: 'invalid',
      message: `TLS handshake with ${address} failed (${code}): the server requires a client certificate or does not use TLS. ${CLIENT_CERTIFICATE_HINT} Without TLS, the base URL starts with http://.`,
    };
  }
  if (/header.{0,40}invalid|invalid.{0,40}header|not a (?:legal|valid) (?:HTTP )?header|ByteString/i.test(messages)) {
    return { kind: 'auth', message: 'The API key contains invalid characters. Copy it again.' };
  }
  if (/InvalidURL|Invalid URL|cannot be parsed|ERR_INVALID_ARG_VALUE|protocol/i.test(`${code} ${messages}`)) {
    return { kind: 'invalid', message: `${address} is not a usable address. Check the base URL.` };
  }
  if (code === 'ECONNRESET') {
    const scheme = address.startsWith('https:') ? 'http://' : 'https://';
    return {
      kind: 'network',
      message: `${address} closed the connection without an answer (${code}). Check the network, and whether the base URL should start with ${scheme}.`,
    };
  }
  const hint =
    code === 'ECONNREFUSED' && isLoopbackUrl(address)
      ? 'Start the server that should answer there, or correct the base URL.'
      : 'Check the network and the base URL.';
  return { kind: 'network', message: `No connection to ${address}${code ? ` (${code})` : ''}. ${hint}` };
}

const UNTRUSTED_CERTIFICATE = ['is not trusted', 'Set NODE_EXTRA_CA_CERTS to a file with its CA certificate.'] as const;

/** Certificates that no CA file makes valid, with what to do about them. */
const CERTIFICATE_PROBLEMS: Readonly<Record<string, readonly [problem: string, advice: string]>> = {
  CERT_HAS_EXPIRED: ['has expired', 'Renew it on the server. If it is valid, correct the clock of this machine.'],
  CERT_NOT_YET_VALID: ['is not valid yet', 'Correct the clock of this machine, or replace the certificate.'],
  ERR_TLS_CERT_ALTNAME_INVALID: [
    'is for another host',
    'Use a host name in the base URL that the certificate names, or replace the certificate.',
  ],
};

/** Reads the SDK's error for a non-2xx response by its shape, so that its classes need not be loaded here. */
function readErrorResponse(thrown: unknown) {
  if (!isObjectOrArray(thrown) || typeof thrown.status !== 'number') return undefined;
  const { status, error, headers, message } = thrown;
  const body = error === undefined || error === null ? stripStatus(message, status) : JSON.stringify(error);
  return { status, body, header: (name: string) => (headers instanceof Headers ? headers.get(name) : undefined) };
}

/** Finds an error with a message for the user in the chain of causes: a network setup error or an unavailable key. */
function findKnownFailure(thrown: unknown, depth = 0): ModelFailure | undefined {
  if (!isObjectOrArray(thrown) || depth > 4) return undefined;
  if (thrown instanceof NetworkSetupError) return { kind: thrown.kind, message: thrown.message };
  if (thrown.name === 'KeyUnavailableError' && typeof thrown.message === 'string') {
    return { kind: 'auth', message: thrown.message };
  }
  return findKnownFailure(thrown.cause, depth + 1);
}

function stripStatus(message: unknown, status: number): string {
  return typeof message === 'string'
    ? message.replace(new RegExp(`^${status}\\s*(status code \\(no body\\))?`), '')
    : '';
}

function findErrorCode(thrown: unknown, depth = 0): string {
  if (!isObjectOrArray(thrown) || depth > 4) return '';
  return typeof thrown.code === 'string' ? thrown.code : findErrorCode(thrown.cause, depth + 1);
}

function joinMessages(thrown: unknown, depth = 0): string {
  if (!isObjectOrArray(thrown) || depth > 4) return '';
  return `${typeof thrown.message === 'string' ? thrown.message : ''} ${joinMessages(thrown.cause, depth + 1)}`.trim();
}

/** Error of a proxy or client certificate; its message is shown to the user. */
export class NetworkSetupError extends Error {
  override readonly name = 'NetworkSetupError';
  readonly kind: ModelFailure['kind'];

  constructor(kind: ModelFailure['kind'], message: string, options?: ErrorOptions) {
    super(message, options);
    this.kind = kind;
  }
}

/** Error of missing or unusable credentials; its message is shown to the user. Failures are classified by its name. */
export class KeyUnavailableError extends Error {
  override readonly name = 'KeyUnavailableError';
}
