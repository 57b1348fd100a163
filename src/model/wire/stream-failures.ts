import type { ModelFailure } from '../../contracts/model.ts';
import { CLIENT_CERTIFICATE, classifyResponse } from './failures.ts';
import { NetworkProblem } from './network-problem.ts';

/** The person (or host) asked to stop. */
export const ABORTED: ModelFailure = { kind: 'aborted', message: 'Interrupted.' };

/** The body ended, or its socket broke, before the reply was complete. */
export const CUT: ModelFailure = {
  kind: 'cut',
  message: 'The connection closed before the reply was complete.',
};

/** An `error` event in the stream: there is no status, only the provider's type. */
export function failureOfErrorEvent(data: string, requestId?: string | null): ModelFailure {
  return classifyResponse({
    status: undefined,
    body: data,
    header: (name) => (name === 'request-id' ? requestId : undefined),
  });
}

/** Something thrown before any headers arrived: an error response, or no connection at all. */
export function failureOfThrown(thrown: unknown, address: string): ModelFailure {
  const response = readErrorResponse(thrown);
  if (response) return classifyResponse(response);
  const known = knownProblem(thrown);
  if (known !== undefined) return known;
  const code = codeOf(thrown);
  const words = messagesOf(thrown);
  if (/CERT|SELF_SIGNED|UNABLE_TO_VERIFY|ERR_TLS/i.test(`${code} ${words}`)) {
    return {
      kind: 'invalid',
      message: `The certificate of ${address} is not trusted (${code || words}). Set NODE_EXTRA_CA_CERTS to the file with its authority.`,
    };
  }
  if (code === 'EPROTO') {
    return {
      kind: 'invalid',
      message: `No secure connection to ${address} (${code}): it wants a client certificate, or does not speak TLS there. ${CLIENT_CERTIFICATE}`,
    };
  }
  if (/header.{0,40}invalid|invalid.{0,40}header|not a (?:legal|valid) (?:HTTP )?header|ByteString/i.test(words)) {
    return { kind: 'auth', message: 'The API key holds characters that no key has. Copy it again.' };
  }
  if (/InvalidURL|Invalid URL|cannot be parsed|ERR_INVALID_ARG_VALUE|protocol/i.test(`${code} ${words}`)) {
    return { kind: 'invalid', message: `${address} is not a usable address. Check the base URL.` };
  }
  return {
    kind: 'network',
    message: `No connection to ${address}${code ? ` (${code})` : ''}. Check the network and the base URL.`,
  };
}

/** The SDK's error for an answer that was not 2xx, read by its shape so that its classes need not be loaded here. */
function readErrorResponse(thrown: unknown) {
  if (!isRecord(thrown) || typeof thrown.status !== 'number') return undefined;
  const { status, error, headers, message } = thrown;
  const body = error === undefined || error === null ? stripStatus(message, status) : JSON.stringify(error);
  return { status, body, header: (name: string) => (headers instanceof Headers ? headers.get(name) : undefined) };
}

/** A key that is fetched when it is needed may not be there, and a proxy or a certificate may not do. */
function knownProblem(thrown: unknown, depth = 0): ModelFailure | undefined {
  if (!isRecord(thrown) || depth > 4) return undefined;
  if (thrown instanceof NetworkProblem) return { kind: thrown.kind, message: thrown.message };
  if (thrown.name === 'KeyUnavailable' && typeof thrown.message === 'string') {
    return { kind: 'auth', message: thrown.message };
  }
  return knownProblem(thrown.cause, depth + 1);
}

function stripStatus(message: unknown, status: number): string {
  return typeof message === 'string'
    ? message.replace(new RegExp(`^${status}\\s*(status code \\(no body\\))?`), '')
    : '';
}

function codeOf(thrown: unknown, depth = 0): string {
  if (!isRecord(thrown) || depth > 4) return '';
  return typeof thrown.code === 'string' ? thrown.code : codeOf(thrown.cause, depth + 1);
}

function messagesOf(thrown: unknown, depth = 0): string {
  if (!isRecord(thrown) || depth > 4) return '';
  return `${typeof thrown.message === 'string' ? thrown.message : ''} ${messagesOf(thrown.cause, depth + 1)}`.trim();
}

function isRecord(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null;
}
