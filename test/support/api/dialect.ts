import type { IncomingHttpHeaders } from 'node:http';
import type { ApiReply } from './reply.ts';
import type { IssuedContent } from './validate-messages.ts';

/** One request as it arrived. */
export type SeenRequest = {
  readonly method: string;
  readonly path: string;
  readonly headers: IncomingHttpHeaders;
  /** The body byte for byte. */
  readonly raw: string;
  readonly body: RequestBody;
  /** The structural rule it broke, if any. */
  readonly violation: string | undefined;
  readonly arrivedAtMs: number;
  /** Resolves when its socket is closed, with the time. Both times are of `performance.now`. */
  readonly closed: Promise<number>;
};

export type RequestBody = {
  readonly model?: string;
  readonly stream?: boolean;
  readonly messages?: readonly { readonly role: string; readonly content: unknown }[];
  readonly [key: string]: unknown;
};

export type ServerEvent = { readonly event: string; readonly data: unknown };

/** The parts of an error response. */
export type Refusal = { readonly status: number; readonly type: string; readonly message: string };

/** The format of the requests and responses of one API. */
export type Dialect = {
  readonly isConversation: (method: string, path: string) => boolean;
  /** Answers to everything that is no conversation. */
  readonly lookUp: (method: string, path: string, raw: string) => object | undefined;
  /** Moves facts from the address into the body, where other APIs have them. */
  readonly read?: (path: string, body: RequestBody) => RequestBody;
  readonly refusedCredentials: (
    headers: IncomingHttpHeaders,
    expected: string | undefined,
    request: Pick<SeenRequest, 'method' | 'path' | 'raw'>,
  ) => string | undefined;
  readonly violationOf: (body: RequestBody, headers: IncomingHttpHeaders, issued: IssuedContent) => string | undefined;
  readonly eventsOf: (reply: ApiReply, id: string, body: RequestBody) => readonly ServerEvent[];
  readonly frame: (event: ServerEvent) => string | Uint8Array;
  readonly ping: string | Uint8Array;
  /** Of a stream; server-sent events without one. */
  readonly contentType?: string;
  readonly messageOf: (reply: ApiReply, id: string, body: RequestBody) => object;
  readonly errorBody: (refusal: Refusal, requestId: string) => object;
};
