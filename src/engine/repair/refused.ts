import type { AssistantBlock, ResultBlock, TextBlock, ToolResultBlock, UserBlock } from '../../contracts/message.ts';
import type { ModelRequest, RefusedPlace, RequestMessage, ToolSpec } from '../../contracts/model.ts';
import type { Stripped } from '../../contracts/query.ts';
import { shortHash } from '../../lib/text/short-hash.ts';
import { nameOf } from './block-names.ts';
import { NO_PICTURE } from './leave-out.ts';

type Block = UserBlock | AssistantBlock;

/** What is told of a part, and the mark by which it is known again wherever it stands. */
export type RefusedPart = { readonly mark: string; readonly name: string };

/** What stands in the place a provider refused. Where that was replaced before, it is what stands around it. */
export function refusedParts(request: ModelRequest, place: RefusedPlace): readonly RefusedPart[] {
  if ('tool' in place) {
    const tool = request.tools[place.tool];
    return tool === undefined ? [] : [{ mark: partMark(tool), name: `the tool ${tool.name}` }];
  }
  const { messages } = request;
  const all = markedBlocks(messages)[place.message] ?? [];
  const named = place.blocks?.flatMap((at) => all[at] ?? []) ?? [];
  const around = [insideOf(named[0]?.block, place.part), named, all, callsAnsweredBy(all, messages)];
  const nearest = around.map((parts) => parts.filter(({ block }) => !isReplaced(block)));
  return (nearest.find((parts) => parts.length > 0) ?? []).map(({ block, mark }) => ({ mark, name: nameOf(block) }));
}

/** The tools that were not refused. */
export function withoutRefusedTools(tools: readonly ToolSpec[], { refused }: Stripped): readonly ToolSpec[] {
  return refused.length === 0 ? tools : tools.filter((tool) => !refused.includes(partMark(tool)));
}

/** The same messages with words in place of what was refused. `repair` makes them valid again. */
export function withoutRefused(
  messages: readonly RequestMessage[],
  { refused }: Stripped,
  repair: (messages: readonly RequestMessage[]) => readonly RequestMessage[],
): readonly RequestMessage[] {
  if (refused.length === 0) return messages;
  const marks = new Set(refused);
  // What stands around a part that was replaced is refused under the mark it has then.
  return repair(replaced(repair(replaced(messages, marks)), marks));
}

type Marked = { readonly block: Block; readonly mark: string; readonly isRefused?: boolean };

function insideOf(block: Block | undefined, part: number | undefined): readonly Marked[] {
  if (block?.type !== 'tool_result' || part === undefined || typeof block.content === 'string') return [];
  const inside = block.content[part];
  return inside === undefined ? [] : [{ block: inside, mark: partMark(inside) }];
}

/** All that is left to refuse of results that were replaced. */
function callsAnsweredBy(results: readonly Marked[], messages: readonly RequestMessage[]): readonly Marked[] {
  const ids = new Set(results.flatMap(({ block }) => (block.type === 'tool_result' ? [block.tool_use_id] : [])));
  return markedBlocks(messages)
    .flat()
    .filter(({ block }) => block.type === 'tool_use' && ids.has(block.id));
}

function isReplaced(block: Block): boolean {
  const words = block.type === 'text' ? block.text : block.type === 'tool_result' ? block.content : '';
  return typeof words === 'string' && words.endsWith(LEFT_OUT);
}

/** The same short words may stand in many places: they are known by what stands before them, as it was and as it is left. */
function markedBlocks(
  messages: readonly RequestMessage[],
  marks: ReadonlySet<string> = new Set(),
): readonly (readonly Marked[])[] {
  let [before, left] = ['', ''];
  return messages.map(({ blocks }) => {
    const own: readonly Block[] = blocks;
    return own.map((block) => {
      const text = JSON.stringify(block);
      const mark = shortHash(block.type === 'text' ? before + text : text, MARK_CHARS);
      const isRefused = marks.has(mark) || marks.has(shortHash(left + text, MARK_CHARS));
      before = text;
      left = isRefused ? JSON.stringify(wordsFor(block)) : text;
      return { block, mark, isRefused };
    });
  });
}

const MARK_CHARS = 24;

function partMark(part: ResultBlock | ToolSpec): string {
  return shortHash(JSON.stringify(part), MARK_CHARS);
}

function replaced(messages: readonly RequestMessage[], marks: ReadonlySet<string>): readonly RequestMessage[] {
  const marked = markedBlocks(messages, marks).flat();
  const refused = new Set(marked.flatMap(({ block, isRefused }) => (isRefused ? [block] : [])));
  const gone = new Set([...refused].flatMap(idsOf));
  return messages.map((message): RequestMessage => {
    if (message.role === 'assistant') {
      const isGone = (block: AssistantBlock) =>
        refused.has(block) || (block.type === 'server' && idsOf(block).some((id) => gone.has(id)));
      return { role: 'assistant', blocks: message.blocks.map((block) => (isGone(block) ? wordsFor(block) : block)) };
    }
    const blocks = message.blocks.flatMap((block): readonly UserBlock[] => {
      if (block.type !== 'tool_result') return [refused.has(block) ? wordsFor(block) : block];
      const result = refused.has(block) ? { ...block, content: NO_RESULT } : withoutParts(block, marks);
      // A call that was refused has no result any more, and what it found out is still worth knowing.
      return gone.has(block.tool_use_id) ? partsOf(result.content) : [result];
    });
    return { role: 'user', blocks };
  });
}

function withoutParts(block: ToolResultBlock, marks: ReadonlySet<string>): ToolResultBlock {
  if (typeof block.content === 'string') return block;
  const content = block.content.map((part) => (marks.has(partMark(part)) ? wordsFor(part) : part));
  return { ...block, content };
}

function partsOf(content: ToolResultBlock['content']): readonly ResultBlock[] {
  return typeof content === 'string' ? [{ type: 'text', text: content }] : content;
}

const LEFT_OUT = 'that the provider refused was left out)';
const NO_RESULT = `(a result ${LEFT_OUT}`;

/** Words may be refused for what is quoted in them. */
function wordsFor(block: Block): TextBlock {
  if (block.type === 'text' && block.citations !== undefined) return { type: 'text', text: block.text };
  if (block.type === 'image' || block.type === 'document') return NO_PICTURE;
  return { type: 'text', text: `(${nameOf(block)} ${LEFT_OUT}` };
}

/** The ids by which another block answers this one, or is answered by it. */
function idsOf(block: Block): readonly string[] {
  if (block.type === 'tool_use') return [block.id];
  if (block.type !== 'server') return [];
  return [block.raw.id, block.raw.tool_use_id].filter((id) => typeof id === 'string');
}
