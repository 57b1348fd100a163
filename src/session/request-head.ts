import { createHash } from 'node:crypto';
import { z } from 'zod';
import type { SystemPart, ToolSpec } from '../contracts/model.ts';
import type { SessionRecord, SessionRecordBody } from '../contracts/session.ts';

/** The part of a request that stays byte-identical for the life of a session, so that it stays cached. */
export type RequestHead = { readonly system: readonly SystemPart[]; readonly tools: readonly ToolSpec[] };

/** The last recorded request head as JSON texts, with the version of ouro that rendered it. */
export type RecordedRequestHead = { readonly system: string; readonly tools: string; readonly version: string };

/** The request heads read from the records so far: every text by its hash, and the latest head. */
export type RequestHeadState = {
  readonly texts: ReadonlyMap<string, string>;
  readonly head: RecordedRequestHead | undefined;
};

/** The state before any record was read. */
export const INITIAL_REQUEST_HEAD_STATE: RequestHeadState = { texts: new Map(), head: undefined };

/** Returns the head state after one more record. */
export function reduceRequestHead(state: RequestHeadState, record: SessionRecord): RequestHeadState {
  if (record.type === 'prompt-text') {
    // A text that does not match its hash is damaged; without it the head is rendered and recorded again.
    if (hashText(record.text) !== record.hash) return state;
    return { ...state, texts: new Map([...state.texts, [record.hash, record.text]]) };
  }
  if (record.type !== 'system' || record.subtype !== 'prompt') return state;
  const [system, tools] = [record.data.system, record.data.tools].map((hash) => state.texts.get(String(hash)));
  // A head that is none, perhaps of a newer version, is rendered and recorded again as well.
  if (system === undefined || tools === undefined || !isHead({ system, tools })) return state;
  return { ...state, head: { system, tools, version: record.version } };
}

const headSchema = z.lazy(() =>
  z.object({
    system: z.array(z.looseObject({ name: z.string(), text: z.string() })),
    tools: z.array(z.looseObject({ name: z.string(), description: z.string(), input_schema: z.looseObject({}) })),
  }),
);

function isHead({ system, tools }: Pick<RecordedRequestHead, 'system' | 'tools'>): boolean {
  try {
    return headSchema.safeParse({ system: JSON.parse(system), tools: JSON.parse(tools) }).success;
  } catch {
    return false;
  }
}

/** Parses a recorded head; serialising it again gives the same bytes. */
export function parseRecordedRequestHead({ system, tools }: RecordedRequestHead): RequestHead {
  return { system: JSON.parse(system), tools: JSON.parse(tools) };
}

/** Creates a recorder that returns the records still missing for a head: new texts, and the hashes of its two parts. */
export function createRequestHeadRecorder(
  knownHashes: Iterable<string> = [],
): (head: RequestHead) => readonly SessionRecordBody[] {
  const written = new Set(knownHashes);
  let lastKey = '';
  let lastHead: RequestHead | undefined;
  return (head) => {
    // Most requests of a session reuse the same values, which need no hashing.
    if (
      lastHead !== undefined &&
      hasSameParts(lastHead.system, head.system) &&
      hasSameParts(lastHead.tools, head.tools)
    )
      return [];
    lastHead = head;
    const system = recordText(JSON.stringify(head.system));
    const tools = recordText(JSON.stringify(head.tools));
    const key = `${system.hash} ${tools.hash}`;
    if (key === lastKey) return [];
    lastKey = key;
    const data = { system: system.hash, tools: tools.hash };
    return [...system.records, ...tools.records, { type: 'system', subtype: 'prompt', data }];
  };

  function recordText(text: string): { readonly hash: string; readonly records: readonly SessionRecordBody[] } {
    const hash = hashText(text);
    if (written.has(hash)) return { hash, records: [] };
    written.add(hash);
    return { hash, records: [{ type: 'prompt-text', hash, text }] };
  }
}

function hasSameParts(before: readonly object[], after: readonly object[]): boolean {
  return before.length === after.length && before.every((part, at) => part === after[at]);
}

function hashText(text: string): string {
  return createHash('sha256').update(text).digest('hex');
}

/** Replaces specs whose input schema did not change by their earlier versions, so that the request stays cached. */
export function reuseUnchangedToolSpecs(specs: readonly ToolSpec[], before: readonly ToolSpec[]): readonly ToolSpec[] {
  return specs.map((spec) => {
    const previous = before.find(({ name }) => name === spec.name);
    return previous !== undefined && JSON.stringify(previous.input_schema) === JSON.stringify(spec.input_schema)
      ? previous
      : spec;
  });
}
