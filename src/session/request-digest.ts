import { createHash, type Hash } from 'node:crypto';
import { z } from 'zod';
import type { JsonObject } from '../contracts/json.ts';
import type { RequestMessage, SerializedRequestPieces } from '../contracts/model.ts';
import type { SessionRecordBody } from '../contracts/session.ts';

/** The hashes of one request: enough to tell whether another request is equal, and where it first differs. */
export type RequestDigest = {
  readonly whole: string;
  /** Model, limits, effort and other fields short enough to be stored verbatim. */
  readonly rest: JsonObject;
  readonly system: string;
  readonly tools: string;
  readonly messages: readonly string[];
};

/** Hashed parts stay `unknown`: they were parsed from a rendered request and may be nested arbitrarily deep. */
const requestSchema = z.lazy(() =>
  z.looseObject({ system: z.unknown(), tools: z.unknown(), messages: z.array(z.unknown()) }),
);

/** Computes the digest of a request from its JSON text. */
export function digestRequest(bytes: string): RequestDigest {
  const { system, tools, messages, ...rest } = requestSchema.parse(JSON.parse(bytes));
  return {
    whole: hashRequest(bytes),
    rest: z.record(z.string(), z.json()).parse(rest),
    system: hash(JSON.stringify(system)),
    tools: hash(JSON.stringify(tools)),
    messages: messages.map((message) => hash(JSON.stringify(message))),
  };
}

/** Computes the hash of a whole request from its JSON text. */
export function hashRequest(bytes: string): RequestDigest['whole'] {
  return hash(bytes);
}

const HASH_CHARS = 24;

function hash(text: string): string {
  return toShortHex(createHash('sha256').update(text));
}

function toShortHex(state: Hash): string {
  return state.digest('hex').slice(0, HASH_CHARS);
}

/** Creates a digester for successive requests; messages repeated from the previous request are not hashed again. */
export function createRequestDigester(): (pieces: SerializedRequestPieces) => RequestDigest {
  let previous: readonly HashedMessage[] = [];
  /** Hash state of the text before the last message; the last message may still grow. */
  let prefix: { readonly before: string; readonly count: number; readonly hash: Hash } | undefined;
  const hashSystem = createRepeatedHash();
  const hashTools = createRepeatedHash();
  return ({ rest, system, tools, before, messages, serializeMessage, after }) => {
    const sameCount = countCommonPrefix(previous, messages, ({ message }, other) => isSameMessage(message, other));
    if (prefix === undefined || prefix.before !== before || prefix.count > sameCount) {
      prefix = { before, count: 0, hash: createHash('sha256').update(before) };
    }
    const { count } = prefix;
    const hashState = prefix.hash.copy();
    const digested = previous.slice(0, count);
    for (const [index, message] of messages.entries()) {
      if (index < count) continue;
      if (index === messages.length - 1) prefix = { before, count: index, hash: hashState.copy() };
      const text = serializeMessage(message);
      hashState.update(index === 0 ? text : `,${text}`);
      digested.push({ message, hash: hash(text) });
    }
    previous = digested;
    return {
      whole: toShortHex(hashState.update(after)),
      rest,
      system: hashSystem(system),
      tools: hashTools(tools),
      messages: digested.map((entry) => entry.hash),
    };
  };
}

/** Returns a hash function that remembers its last text, which is mostly the next one. */
function createRepeatedHash(): (text: string) => string {
  let last = { text: '', hash: hash('') };
  return (text) => {
    if (text !== last.text) last = { text, hash: hash(text) };
    return last.hash;
  };
}

type HashedMessage = { readonly message: RequestMessage; readonly hash: string };

function isSameMessage(a: RequestMessage, b: RequestMessage): boolean {
  const { blocks } = b;
  if (a === b) return true;
  return (
    a.role === b.role && a.blocks.length === blocks.length && a.blocks.every((block, index) => block === blocks[index])
  );
}

/** Creates a writer that turns digests into records holding only the message hashes new since the last digest. */
export function createRequestDigestEncoder(): (digest: RequestDigest) => SessionRecordBody {
  let previous: readonly string[] = [];
  return ({ messages, ...digest }) => {
    const sameCount = countCommonPrefix(previous, messages, (entry, other) => entry === other);
    previous = messages;
    return {
      type: 'system',
      subtype: 'request',
      data: { ...digest, same: sameCount, messages: messages.slice(sameCount) },
    };
  };
}

const recordSchema = z.lazy(() =>
  z.object({
    whole: z.string(),
    rest: z.record(z.string(), z.json()),
    system: z.string(),
    tools: z.string(),
    same: z.number(),
    messages: z.array(z.string()),
  }),
);

/** Creates a reader that restores full digests from such records; they must be read in order. */
export function createRequestDigestDecoder(): (data: JsonObject) => RequestDigest | undefined {
  let previous: readonly string[] = [];
  return (data) => {
    const parsed = recordSchema.safeParse(data);
    if (!parsed.success) return undefined;
    const { same, messages, ...digest } = parsed.data;
    previous = [...previous.slice(0, same), ...messages];
    return { ...digest, messages: previous };
  };
}

function countCommonPrefix<One, Other>(
  a: readonly One[],
  b: readonly Other[],
  isEqual: (entry: One, other: Other) => boolean,
): number {
  const end = a.findIndex((entry, index) => {
    const other = b[index];
    return other === undefined || !isEqual(entry, other);
  });
  return end === -1 ? a.length : end;
}
