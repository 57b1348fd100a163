import { createHash } from 'node:crypto';
import type { SystemPart, ToolSpec } from '../contracts/model.ts';
import type { RecordBody, SessionRecord } from '../contracts/session.ts';

/** The part of a request that must not change by a byte while a session lives. */
export type RequestHead = { readonly system: readonly SystemPart[]; readonly tools: readonly ToolSpec[] };

/** The head of the last request on record, as text, and the version of ouro that rendered it. */
export type RecordedHead = { readonly system: string; readonly tools: string; readonly version: string };

/** What the records say about request heads: every text by its hash, and the head that counts now. */
export type HeadState = { readonly texts: ReadonlyMap<string, string>; readonly head: RecordedHead | undefined };

export const NO_HEAD: HeadState = { texts: new Map(), head: undefined };

export function nextHead(state: HeadState, record: SessionRecord): HeadState {
  if (record.type === 'prompt-text') {
    // A text that is not what was hashed is damaged: it is rendered and recorded anew.
    if (hashOf(record.text) !== record.hash) return state;
    return { ...state, texts: new Map([...state.texts, [record.hash, record.text]]) };
  }
  if (record.type !== 'system' || record.subtype !== 'prompt') return state;
  const [system, tools] = [record.data.system, record.data.tools].map((hash) => state.texts.get(String(hash)));
  if (system === undefined || tools === undefined) return state;
  return { ...state, head: { system, tools, version: record.version } };
}

/** A recorded head, byte for byte. */
export function parseHead({ system, tools }: RecordedHead): RequestHead {
  return { system: JSON.parse(system), tools: JSON.parse(tools) };
}

/** Answers with the records a request head needs on disk: its texts once each, and which of them it was made of. */
export function createHeadRecorder(known: Iterable<string> = []): (head: RequestHead) => readonly RecordBody[] {
  const written = new Set(known);
  let last = '';
  let seen: RequestHead | undefined;
  return (head) => {
    // The same values as last time need no hashing: most requests of a session.
    if (seen?.system === head.system && seen.tools === head.tools) return [];
    seen = head;
    const system = keep(JSON.stringify(head.system));
    const tools = keep(JSON.stringify(head.tools));
    const mark = `${system.hash} ${tools.hash}`;
    if (mark === last) return [];
    last = mark;
    const data = { system: system.hash, tools: tools.hash };
    return [...system.records, ...tools.records, { type: 'system', subtype: 'prompt', data }];
  };

  function keep(text: string): { readonly hash: string; readonly records: readonly RecordBody[] } {
    const hash = hashOf(text);
    if (written.has(hash)) return { hash, records: [] };
    written.add(hash);
    return { hash, records: [{ type: 'prompt-text', hash, text }] };
  }
}

function hashOf(text: string): string {
  return createHash('sha256').update(text).digest('hex');
}

/** A tool that still takes the same input is described in the same words as before. */
export function repeatSpecs(specs: readonly ToolSpec[], before: readonly ToolSpec[]): readonly ToolSpec[] {
  return specs.map((spec) => {
    const old = before.find(({ name }) => name === spec.name);
    return old !== undefined && JSON.stringify(old.input_schema) === JSON.stringify(spec.input_schema) ? old : spec;
  });
}
