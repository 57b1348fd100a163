import { createHash } from 'node:crypto';
import type { SystemPart, ToolSpec } from '../contracts/model.ts';
import type { RecordBody } from '../contracts/session.ts';
import type { KeptPrompt } from './kept-state.ts';

/** The part of a request that must not change by a byte while a session lives. */
export type RequestHead = { readonly system: readonly SystemPart[]; readonly tools: readonly ToolSpec[] };

/** Answers with the records a request head needs on disk: its texts once each, and which of them it was made of. */
export function createPromptKeeper(known: Iterable<string> = []): (head: RequestHead) => readonly RecordBody[] {
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
    const hash = createHash('sha256').update(text).digest('hex');
    if (written.has(hash)) return { hash, records: [] };
    written.add(hash);
    return { hash, records: [{ type: 'prompt-text', hash, text }] };
  }
}

/** The request head of a kept prompt, byte for byte. */
export function readPrompt(kept: KeptPrompt): RequestHead {
  return { system: JSON.parse(kept.system), tools: JSON.parse(kept.tools) };
}
