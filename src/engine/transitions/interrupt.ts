import type { Message, TextBlock, UserMessage } from '../../contracts/message.ts';
import type { QueryDeps, QueryState } from '../../contracts/query.ts';
import { worthKeeping } from '../keep.ts';
import { append, stop, type Verdict } from '../state.ts';
import type { Turn } from '../turn.ts';

const INTERRUPTED = '[Request interrupted by user]';
const INTERRUPTED_FOR_TOOL = '[Request interrupted by user for tool use]';

/** What stays after an abort: finished blocks, a result for every complete call, and one note behind them. */
export function interrupt(state: QueryState, turn: Turn, deps: Pick<QueryDeps, 'newId'>): Verdict {
  const ended = turn.calls.ended();
  const answered = new Set(ended.map((call) => call.block.id));
  const whole = worthKeeping(turn.reply, { calls: 'kept' });
  const blocks = whole?.blocks.filter((block) => block.type !== 'tool_use' || answered.has(block.id)) ?? [];
  const reply = whole && worthKeeping({ ...whole, blocks }, { calls: 'kept' });
  const kept: readonly Message[] = reply === undefined ? [] : [reply];
  const words: TextBlock = { type: 'text', text: ended.length > 0 ? INTERRUPTED_FOR_TOOL : INTERRUPTED };
  const note: UserMessage = {
    role: 'user',
    id: deps.newId(),
    origin: ended.length > 0 ? 'results' : 'interrupt',
    blocks: [...ended.map((call) => call.result), words],
  };
  const reason = turn.streamed && ended.length > 0 ? 'aborted_tools' : 'aborted_streaming';
  return stop(append(state, ...kept, note), { reason });
}
