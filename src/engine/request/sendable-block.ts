import type { AssistantBlock, ToolUseBlock } from '../../contracts/message.ts';
import { isNestedDeeperThan, MAX_JSON_DEPTH } from '../../lib/json.ts';
import { computeShortHash } from '../../lib/text/short-hash.ts';

/** Ids and names of calls that the API accepts. */
const ID_PATTERN = /^[a-zA-Z0-9_-]+$/;
const NAME_PATTERN = /^[a-zA-Z0-9_-]{1,128}$/;
/** Some providers accept at most 64 characters; replacement names stay below that. */
const MAX_STEM_CHARS = 48;

/** Results by call: calls never change and are part of every later request. */
const sendableCalls = new WeakMap<ToolUseBlock, ToolUseBlock>();

/** Returns a block that every provider accepts; deterministic, and the block itself if it is sendable already. */
export function normalizeMessageBlock(block: AssistantBlock): AssistantBlock {
  if (block.type !== 'tool_use') return block;
  const cached = sendableCalls.get(block);
  if (cached !== undefined) return cached;
  const sendableCall = makeSendableCall(block);
  sendableCalls.set(block, sendableCall);
  return sendableCall;
}

/** Returns a valid id for a call and its result; different ids stay different. */
export function normalizeCallId(id: string): string {
  return ID_PATTERN.test(id) ? id : `toolu_${computeShortHash(id, 24)}`;
}

function makeSendableName(name: string): string {
  if (NAME_PATTERN.test(name)) return name;
  const stem = name.replaceAll(/[^a-zA-Z0-9_-]+/g, '_').slice(0, MAX_STEM_CHARS);
  return `${stem === '' ? 'unnamed' : stem}_${computeShortHash(name, 8)}`;
}

function makeSendableCall(block: ToolUseBlock): ToolUseBlock {
  const id = normalizeCallId(block.id);
  const name = makeSendableName(block.name);
  const renamed = id === block.id && name === block.name ? block : { ...block, id, name };
  if (!isNestedDeeperThan(renamed.input, MAX_JSON_DEPTH)) return renamed;
  return { ...renamed, input: {}, unparsed: `(an input nested more than ${MAX_JSON_DEPTH} levels deep)` };
}
