import { createHash, type Hash } from 'node:crypto';
import { z } from 'zod';
import type { JsonObject } from '../contracts/json.ts';
import type { RequestMessage, RequestPieces } from '../contracts/model.ts';
import type { RecordBody } from '../contracts/session.ts';

/** One request in hashes: enough to tell whether another is the same, and where it begins to differ. */
export type RequestDigest = {
  readonly whole: string;
  /** Model, limits, effort and what else is short enough to be written out. */
  readonly rest: JsonObject;
  readonly system: string;
  readonly tools: string;
  readonly messages: readonly string[];
};

/** What is hashed is not looked into: it was JSON a moment ago, of whatever depth. */
const requestSchema = z.looseObject({ system: z.unknown(), tools: z.unknown(), messages: z.array(z.unknown()) });

/** Of a request as text. */
export function digestOf(bytes: string): RequestDigest {
  const { system, tools, messages, ...rest } = requestSchema.parse(JSON.parse(bytes));
  return {
    whole: wholeDigest(bytes),
    rest: z.record(z.string(), z.json()).parse(rest),
    system: hash(JSON.stringify(system)),
    tools: hash(JSON.stringify(tools)),
    messages: messages.map((message) => hash(JSON.stringify(message))),
  };
}

/** Of a request as text: all it takes to know it again. */
export function wholeDigest(bytes: string): RequestDigest['whole'] {
  return hash(bytes);
}

const HASH_CHARS = 24;

function hash(text: string): string {
  return short(createHash('sha256').update(text));
}

function short(made: Hash): string {
  return made.digest('hex').slice(0, HASH_CHARS);
}

/** The same of one request after the other: what one repeats of the one before it is not gone through again. */
export function createDigester(): (pieces: RequestPieces) => RequestDigest {
  let known: readonly Digested[] = [];
  /** The text up to the last message but one: the last one still grows. */
  let stem: { readonly before: string; readonly count: number; readonly hash: Hash } | undefined;
  return ({ rest, system, tools, before, messages, textOf, after }) => {
    const same = commonLength(known, messages, ({ message }, other) => isSame(message, other));
    if (stem === undefined || stem.before !== before || stem.count > same) {
      stem = { before, count: 0, hash: createHash('sha256').update(before) };
    }
    const { count } = stem;
    const whole = stem.hash.copy();
    const digested = known.slice(0, count);
    for (const [index, message] of messages.entries()) {
      if (index < count) continue;
      if (index === messages.length - 1) stem = { before, count: index, hash: whole.copy() };
      const text = textOf(message);
      whole.update(index === 0 ? text : `,${text}`);
      digested.push({ message, hash: hash(text) });
    }
    known = digested;
    return {
      whole: short(whole.update(after)),
      rest,
      system: hash(system),
      tools: hash(tools),
      messages: digested.map((one) => one.hash),
    };
  };
}

type Digested = { readonly message: RequestMessage; readonly hash: string };

function isSame(one: RequestMessage, other: RequestMessage): boolean {
  const { blocks } = other;
  return (
    one.role === other.role &&
    one.blocks.length === blocks.length &&
    one.blocks.every((block, index) => block === blocks[index])
  );
}

/** Turns digests into records that hold only what is new since the last one. */
export function createDigestWriter(): (digest: RequestDigest) => RecordBody {
  let last: readonly string[] = [];
  return ({ messages, ...digest }) => {
    const same = commonLength(last, messages, (one, other) => one === other);
    last = messages;
    return { type: 'system', subtype: 'request', data: { ...digest, same, messages: messages.slice(same) } };
  };
}

const recordSchema = z.object({
  whole: z.string(),
  rest: z.record(z.string(), z.json()),
  system: z.string(),
  tools: z.string(),
  same: z.number(),
  messages: z.array(z.string()),
});

/** Reads them back, in order. */
export function createDigestReader(): (data: JsonObject) => RequestDigest | undefined {
  let last: readonly string[] = [];
  return (data) => {
    const read = recordSchema.safeParse(data);
    if (!read.success) return undefined;
    const { same, messages, ...digest } = read.data;
    last = [...last.slice(0, same), ...messages];
    return { ...digest, messages: last };
  };
}

function commonLength<One, Other>(
  a: readonly One[],
  b: readonly Other[],
  isEqual: (one: One, other: Other) => boolean,
): number {
  const at = a.findIndex((one, index) => {
    const other = b[index];
    return other === undefined || !isEqual(one, other);
  });
  return at === -1 ? a.length : at;
}
