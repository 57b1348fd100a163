import { createHash } from 'node:crypto';
import { z } from 'zod';
import type { JsonObject, JsonValue } from '../contracts/json.ts';
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

const requestSchema = z.looseObject({ system: z.json(), tools: z.json(), messages: z.array(z.json()) });

/** Of a request as text. */
export function digestOf(bytes: string): RequestDigest {
  const { system, tools, messages, ...rest } = requestSchema.parse(JSON.parse(bytes));
  return {
    whole: hash(bytes),
    rest: z.record(z.string(), z.json()).parse(rest),
    system: hash(JSON.stringify(system)),
    tools: hash(JSON.stringify(tools)),
    messages: messages.map((message: JsonValue) => hash(JSON.stringify(message))),
  };
}

const HASH_CHARS = 24;

function hash(text: string): string {
  return createHash('sha256').update(text).digest('hex').slice(0, HASH_CHARS);
}

/** Turns digests into records that hold only what is new since the last one. */
export function createDigestWriter(): (digest: RequestDigest) => RecordBody {
  let last: readonly string[] = [];
  return ({ messages, ...digest }) => {
    const same = commonLength(last, messages);
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

function commonLength(a: readonly string[], b: readonly string[]): number {
  const at = a.findIndex((one, index) => one !== b[index]);
  return at === -1 ? a.length : at;
}
