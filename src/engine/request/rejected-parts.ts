import type {
  AssistantBlock,
  Message,
  ResultBlock,
  TextBlock,
  ToolResultBlock,
  ToolUseBlock,
  UserBlock,
} from '../../contracts/message.ts';
import type { ModelRequest, RefusedPosition, RequestMessage, ToolSpec } from '../../contracts/model.ts';
import type { ExcludedContent } from '../../contracts/query.ts';
import { isNestedDeeperThan, MAX_JSON_DEPTH } from '../../lib/json.ts';
import { memoizeByObject } from '../../lib/memoize.ts';
import { computeShortHash } from '../../lib/text/short-hash.ts';

type Block = UserBlock | AssistantBlock;

/** The kind and name of a rejected part, and the hash by which it is recognized in later requests. */
export type RejectedRequestPart = {
  readonly mark: string;
  readonly kind: 'media' | 'thinking' | 'other';
  readonly name: string;
};

/** Returns the parts at the location a provider rejected; if they were replaced before, the parts around them. */
export function findRejectedRequestParts(
  request: ModelRequest,
  location: RefusedPosition,
): readonly RejectedRequestPart[] {
  if ('tool' in location) {
    const tool = request.tools[location.tool];
    return tool === undefined ? [] : [{ mark: partMark(tool), kind: 'other', name: `the tool ${tool.name}` }];
  }
  const { messages } = request;
  const messageBlocks = markBlocks(messages)[location.message] ?? [];
  const namedBlocks = location.blocks?.flatMap((at) => messageBlocks[at] ?? []) ?? [];
  const candidates = [
    getResultPart(namedBlocks[0]?.block, location.part),
    namedBlocks,
    messageBlocks,
    listAnsweredCalls(messageBlocks, messages),
  ];
  const present = candidates.map((parts) => parts.filter(({ block }) => !isReplaced(block)));
  return (present.find((parts) => parts.length > 0) ?? []).map(({ block, mark }) => ({
    mark,
    kind: getPartKind(block),
    name: describeBlock(block),
  }));
}

/** Returns the images and documents of the newest message that has any, also those in results. */
export function findNewestMedia({ messages }: ModelRequest): readonly RejectedRequestPart[] {
  for (const { role, blocks } of messages.toReversed()) {
    if (role === 'assistant') continue;
    const parts = blocks.flatMap((block): readonly (ResultBlock | UserBlock)[] =>
      block.type === 'tool_result' ? listParts(block.content) : [block],
    );
    const media = parts.filter(({ type }) => type === 'image' || type === 'document');
    if (media.length > 0) {
      return media.map((part) => ({ mark: partMark(part), kind: 'media', name: describeBlock(part) }));
    }
  }
  return [];
}

/** Removes the tools that the provider has rejected. */
export function removeRejectedTools(tools: readonly ToolSpec[], { refused }: ExcludedContent): readonly ToolSpec[] {
  return refused.length === 0 ? tools : tools.filter((tool) => !refused.includes(partMark(tool)));
}

/** Replaces rejected blocks by short texts; `repair` makes the messages valid again. */
export function replaceRejectedRequestParts(
  messages: readonly RequestMessage[],
  { refused }: ExcludedContent,
  repair: (messages: readonly RequestMessage[]) => readonly RequestMessage[],
): readonly RequestMessage[] {
  if (refused.length === 0) return messages;
  const marks = new Set(refused);
  // Twice: a block around a replaced part has another mark after the first replacement.
  return repair(replaceMarked(repair(replaceMarked(messages, marks)), marks));
}

type MarkedBlock = { readonly block: Block; readonly mark: string; readonly isRefused?: boolean };

function getResultPart(block: Block | undefined, part: number | undefined): readonly MarkedBlock[] {
  if (block?.type !== 'tool_result' || part === undefined || typeof block.content === 'string') return [];
  const inside = block.content[part];
  return inside === undefined ? [] : [{ block: inside, mark: partMark(inside) }];
}

/** Returns the calls that these results belong to; all that is left to strip once the results were replaced. */
function listAnsweredCalls(
  results: readonly MarkedBlock[],
  messages: readonly RequestMessage[],
): readonly MarkedBlock[] {
  const ids = new Set(results.flatMap(({ block }) => (block.type === 'tool_result' ? [block.tool_use_id] : [])));
  return markBlocks(messages)
    .flat()
    .filter(({ block }) => block.type === 'tool_use' && ids.has(block.id));
}

function isReplaced(block: Block): boolean {
  const text = block.type === 'text' ? block.text : block.type === 'tool_result' ? block.content : '';
  return typeof text === 'string' && text.endsWith(REPLACEMENT_SUFFIX);
}

/** Hashes all blocks; texts, which may repeat, together with the block before them. */
function markBlocks(
  messages: readonly RequestMessage[],
  marks: ReadonlySet<string> = new Set(),
): readonly (readonly MarkedBlock[])[] {
  let [before, replacedText] = ['', ''];
  return messages.map(({ blocks }) => {
    const all: readonly Block[] = blocks;
    return all.map((block) => {
      const text = JSON.stringify(block);
      const mark = computeShortHash(block.type === 'text' ? before + text : text, MARK_CHARS);
      const isRefused = marks.has(mark) || marks.has(computeShortHash(replacedText + text, MARK_CHARS));
      before = text;
      replacedText = isRefused ? JSON.stringify(createReplacement(block)) : text;
      return { block, mark, isRefused };
    });
  });
}

const MARK_CHARS = 24;

function partMark(part: Block | ResultBlock | ToolSpec): string {
  return computeShortHash(JSON.stringify(part), MARK_CHARS);
}

function replaceMarked(messages: readonly RequestMessage[], marks: ReadonlySet<string>): readonly RequestMessage[] {
  const marked = markBlocks(messages, marks).flat();
  const refused = new Set(marked.flatMap(({ block, isRefused }) => (isRefused ? [block] : [])));
  const goneIds = new Set([...refused].flatMap(listIds));
  return messages.map((message): RequestMessage => {
    if (message.role === 'assistant') {
      const isGone = (block: AssistantBlock) =>
        refused.has(block) || (block.type === 'server' && listIds(block).some((id) => goneIds.has(id)));
      return {
        role: 'assistant',
        blocks: message.blocks.map((block) => (isGone(block) ? createReplacement(block) : block)),
      };
    }
    const blocks = message.blocks.flatMap((block): readonly UserBlock[] => {
      if (block.type !== 'tool_result') return [refused.has(block) ? createReplacement(block) : block];
      const result = refused.has(block) ? { ...block, content: NO_RESULT } : replaceParts(block, marks);
      // The result of a removed call is kept as plain content, because the model still needs it.
      return goneIds.has(block.tool_use_id) ? listParts(result.content) : [result];
    });
    return { role: 'user', blocks };
  });
}

function replaceParts(block: ToolResultBlock, marks: ReadonlySet<string>): ToolResultBlock {
  if (typeof block.content === 'string') return block;
  const content = block.content.map((part) => (marks.has(partMark(part)) ? createReplacement(part) : part));
  return { ...block, content };
}

function listParts(content: ToolResultBlock['content']): readonly ResultBlock[] {
  return typeof content === 'string' ? [{ type: 'text', text: content }] : content;
}

const REPLACEMENT_SUFFIX = 'that the provider refused was left out)';
const NO_RESULT = `(a result ${REPLACEMENT_SUFFIX}`;

/** Creates the text that replaces a block; a text with citations only loses these. */
function createReplacement(block: Block): TextBlock {
  if (block.type === 'text' && block.citations !== undefined) return { type: 'text', text: block.text };
  if (block.type === 'image' || block.type === 'document') return STRIPPED_MEDIA_TEXT;
  return { type: 'text', text: `(${describeBlock(block)} ${REPLACEMENT_SUFFIX}` };
}

/** Returns the ids that link a block to the call or result that belongs to it. */
function listIds(block: Block): readonly string[] {
  if (block.type === 'tool_use') return [block.id];
  if (block.type !== 'server') return [];
  return [block.raw.id, block.raw.tool_use_id].filter((id) => typeof id === 'string');
}

function getPartKind({ type }: Block): RejectedRequestPart['kind'] {
  if (type === 'image' || type === 'document') return 'media';
  return type === 'thinking' || type === 'redacted_thinking' ? 'thinking' : 'other';
}

/** Returns the name of a block for messages. */
function describeBlock(block: UserBlock | AssistantBlock): string {
  if (block.type === 'tool_use') return `a call of ${block.name}`;
  return block.type === 'server' ? `a block of the kind ${String(block.raw.type)}` : NAMES[block.type];
}

const NAMES = {
  text: 'a text',
  tool_result: 'a result',
  image: 'a picture',
  document: 'a document',
  thinking: 'thinking',
  redacted_thinking: 'thinking',
  opaque: 'a block of an unknown kind',
} as const;

/** Text that replaces a rejected image or document. */
const STRIPPED_MEDIA_TEXT = {
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
