import type { Message, ToolResultBlock } from '../../contracts/message.ts';
import type { RecordBody } from '../../contracts/session.ts';
import { LOST_RESULT } from './conversation-state.ts';
import type { Rebuilt } from './rebuild.ts';

const NAMED = 20;

/** Calls that the end of a process cut off: the model learns which files changed since, and the words go on record. */
export async function settleDangling(
  rebuilt: Pick<Rebuilt, 'messages' | 'dangling'>,
  changedSince: (at: string) => Promise<readonly string[]>,
): Promise<{ readonly messages: readonly Message[]; readonly records: readonly RecordBody[] }> {
  const { messages, dangling } = rebuilt;
  // Only the last reply's calls can still be told: what is older has been sent as it was.
  const last = messages.at(-1);
  const open = dangling.filter(({ callId }) => last?.role === 'user' && hasResult(last.blocks, callId));
  const [first] = open;
  if (first === undefined || last?.role !== 'user') return { messages, records: [] };
  const words = `${LOST_RESULT} ${changedWords(await changedSince(first.at))}`;
  const results = open.map(({ callId, tool }) => ({ tool, result: lostResult(callId, words) }));
  const told = new Map(results.map(({ result }) => [result.tool_use_id, result]));
  const blocks = last.blocks.map((block) =>
    block.type === 'tool_result' ? (told.get(block.tool_use_id) ?? block) : block,
  );
  return {
    messages: [...messages.slice(0, -1), { ...last, blocks }],
    records: results.map(({ tool, result }) => ({
      type: 'result',
      callId: result.tool_use_id,
      tool,
      result,
      status: 'interrupted',
      durationMs: 0,
    })),
  };
}

function hasResult(blocks: readonly { readonly type: string }[], callId: string): boolean {
  return blocks.some((block) => 'tool_use_id' in block && block.tool_use_id === callId);
}

function lostResult(callId: string, content: string): ToolResultBlock {
  return { type: 'tool_result', tool_use_id: callId, content, is_error: true };
}

function changedWords(files: readonly string[]): string {
  if (files.length === 0) return 'No file of the workspace has changed since the call.';
  const more = files.length > NAMED ? ` and ${files.length - NAMED} more` : '';
  return `Files that changed since the call: ${files.slice(0, NAMED).join(', ')}${more}.`;
}
