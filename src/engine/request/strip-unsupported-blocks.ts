import type { AssistantBlock, Message, ResultBlock, ToolUseBlock, UserBlock } from '../../contracts/message.ts';
import type { ExcludedContent } from '../../contracts/query.ts';
import { isNestedDeeperThan, MAX_JSON_DEPTH } from '../../lib/json.ts';
import { memoizeByObject } from '../../lib/memoize.ts';
import { computeShortHash } from '../../lib/text/short-hash.ts';

/** Text that replaces a rejected image or document. */
export const STRIPPED_MEDIA_TEXT = {
  type: 'text',
  text: '(a picture or document that the provider refused was left out)',
} as const;

/** Strips thinking by other models, thinking that the API rejected, and rejected images. */
export function stripUnsupportedBlocks(
  view: readonly Message[],
  model: string,
  stripped: ExcludedContent,
): readonly Message[] {
  const lastStripped = findLastStripped(view, stripped);
  return view.map((message, at) => {
    if (message.role === 'user') return at <= lastStripped ? stripMedia(message) : message;
    if (message.role !== 'assistant') return message;
    if (message.model === model && !stripped.thinking) return message;
    return message.blocks.some(isModelSpecific) ? { ...message, blocks: message.blocks.flatMap(toPortable) } : message;
  });
}

function isModelSpecific(block: AssistantBlock): boolean {
  if (block.type === 'tool_use' || block.type === 'text') return block.signature !== undefined;
  return block.type === 'thinking' || block.type === 'redacted_thinking';
}

function toPortable(block: AssistantBlock): readonly AssistantBlock[] {
  if (!isModelSpecific(block)) return [block];
  if (block.type !== 'tool_use' && block.type !== 'text') return [];
  const { signature: _signature, ...portable } = block;
  return [portable];
}

/** Tells whether images are left that were not stripped yet. */
export function hasUnstrippedMedia(view: readonly Message[], stripped: ExcludedContent): boolean {
  const unstripped = view.slice(findLastStripped(view, stripped) + 1);
  return unstripped.some((message) => message.role === 'user' && stripMedia(message) !== message);
}

function findLastStripped(view: readonly Message[], { images }: ExcludedContent): number {
  return images === undefined ? -1 : view.findLastIndex(({ id }) => id === images);
}

function stripMedia<User extends Extract<Message, { role: 'user' }>>(message: User): User {
  const hasMedia = message.blocks.some(
    (block) =>
      isMedia(block) ||
      (block.type === 'tool_result' && typeof block.content !== 'string' && block.content.some(isMedia)),
  );
  if (!hasMedia) return message;
  const blocks = message.blocks.map((block): UserBlock => {
    if (block.type !== 'tool_result' || typeof block.content === 'string')
      return isMedia(block) ? STRIPPED_MEDIA_TEXT : block;
    return {
      ...block,
      content: block.content.map((part): ResultBlock => (isMedia(part) ? STRIPPED_MEDIA_TEXT : part)),
    };
  });
  return { ...message, blocks };
}

function isMedia({ type }: UserBlock | ResultBlock): boolean {
  return type === 'image' || type === 'document';
}

/** Ids and names of calls that the API accepts. */
const ID_PATTERN = /^[a-zA-Z0-9_-]+$/;
const NAME_PATTERN = /^[a-zA-Z0-9_-]{1,128}$/;
/** Some providers accept at most 64 characters; replacement names stay below that. */
const MAX_STEM_CHARS = 48;

/** Returns a block that every provider accepts; deterministic, and the block itself if it is sendable already. */
export function normalizeMessageBlock(block: AssistantBlock): AssistantBlock {
  return block.type === 'tool_use' ? makeSendableCall(block) : block;
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

const makeSendableCall = memoizeByObject((block: ToolUseBlock): ToolUseBlock => {
  const id = normalizeCallId(block.id);
  const name = makeSendableName(block.name);
  const renamed = id === block.id && name === block.name ? block : { ...block, id, name };
  if (!isNestedDeeperThan(renamed.input, MAX_JSON_DEPTH)) return renamed;
  return { ...renamed, input: {}, unparsed: `(an input nested more than ${MAX_JSON_DEPTH} levels deep)` };
});
