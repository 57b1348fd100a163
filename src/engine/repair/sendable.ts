import type { AssistantBlock, ToolUseBlock } from '../../contracts/message.ts';
import { isDeeperThan, MAX_DEPTH } from '../../lib/depth.ts';
import { shortHash } from '../../lib/text/short-hash.ts';

/** What the API takes as the id and as the name of a call. */
const ID = /^[a-zA-Z0-9_-]+$/;
const NAME = /^[a-zA-Z0-9_-]{1,128}$/;
/** Some providers take no more than 64 characters: a name that is made up keeps to that. */
const NAME_STEM = 48;

/** What calls became that were looked at once: they never change, and go out again with every request. */
const known = new WeakMap<ToolUseBlock, ToolUseBlock>();

/** A block of a reply as every provider takes it back. The same block always gives the same, and a sendable one is itself. */
export function sendableBlock(block: AssistantBlock): AssistantBlock {
  if (block.type !== 'tool_use') return block;
  const before = known.get(block);
  if (before !== undefined) return before;
  const sendable = sendableCall(block);
  known.set(block, sendable);
  return sendable;
}

/** The id under which a call and its result go back: two ids never become one. */
export function sendableId(id: string): string {
  return ID.test(id) ? id : `toolu_${shortHash(id, 24)}`;
}

function sendableName(name: string): string {
  if (NAME.test(name)) return name;
  const stem = name.replaceAll(/[^a-zA-Z0-9_-]+/g, '_').slice(0, NAME_STEM);
  return `${stem === '' ? 'unnamed' : stem}_${shortHash(name, 8)}`;
}

function sendableCall(block: ToolUseBlock): ToolUseBlock {
  const id = sendableId(block.id);
  const name = sendableName(block.name);
  const named = id === block.id && name === block.name ? block : { ...block, id, name };
  if (!isDeeperThan(named.input, MAX_DEPTH)) return named;
  return { ...named, input: {}, unparsed: `(an input nested more than ${MAX_DEPTH} levels deep)` };
}
