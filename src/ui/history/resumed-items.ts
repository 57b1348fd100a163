import type { ConversationInfo } from '../../contracts/face/conversation.ts';
import type { Message, ToolResultBlock } from '../../contracts/message.ts';
import { formatCount } from '../../lib/text/format.ts';
import type { HistoryItem } from '../view/history-item.ts';
import type { ToolEntry } from '../view/tool-entry.ts';
import { typedWords } from '../view/typed-words.ts';
import { callTitle } from './call-title.ts';

const TURNS_SHOWN = 2;

/** The end of a conversation that is taken up again: the last turns, and how many are before them. */
export function resumedItems(
  messages: readonly Message[],
  { turns = TURNS_SHOWN, refusals = [] }: { readonly turns?: number; readonly refusals?: Refusals } = {},
): readonly HistoryItem[] {
  const starts = messages.flatMap((message, at) => (isTyped(message) ? [at] : []));
  const from = starts.at(-turns) ?? 0;
  const skipped = starts.filter((at) => at < from).length;
  const shown = messages.slice(from);
  const results = new Map(
    shown.flatMap((message) =>
      message.role === 'user'
        ? message.blocks.flatMap((block) => (block.type === 'tool_result' ? [[block.tool_use_id, block] as const] : []))
        : [],
    ),
  );
  const more: readonly HistoryItem[] =
    skipped === 0
      ? []
      : [{ kind: 'notice', level: 'info', text: `… ${formatCount(skipped, 'earlier turn')} (ctrl+o)` }];
  const end: readonly HistoryItem[] = wasStopped(messages)
    ? [{ kind: 'stopped', hint: 'It was stopped here. Say what to do, or press enter to go on.' }]
    : [];
  return [...more, ...shown.flatMap((message) => itemsOf(message, results, refusals)), ...end];
}

/** The last run was stopped in its answer: it can go on from there without another word. */
export function wasStopped(messages: readonly Message[]): boolean {
  const last = messages.at(-1);
  return last?.role === 'user' && last.origin === 'interrupt';
}

function itemsOf(
  message: Message,
  results: ReadonlyMap<string, ToolResultBlock>,
  refusals: Refusals,
): readonly HistoryItem[] {
  if (message.role === 'boundary' || message.role === 'custom') return [];
  if (message.role === 'user') {
    if (!isTyped(message)) return [];
    return [{ kind: 'prompt', text: typedWords(message.blocks), at: message.at }];
  }
  return message.blocks.flatMap((block): readonly HistoryItem[] => {
    if (block.type === 'text') {
      const end = { kind: 'notice', level: 'warn', text: 'The answer was cut off here.' } as const;
      return [{ kind: 'shown', markdown: block.text }, ...(block.cut === true ? [end] : [])];
    }
    if (block.type !== 'tool_use') return [];
    const entry = entryOf(block.id, block.name, block.input, results.get(block.id));
    return [{ kind: 'tools', entries: [refusedEntry(entry, refusals)] }];
  });
}

type Refusals = ConversationInfo['permissionDenials'];

/** Who refused a call, and in which words. */
function refusedEntry(entry: ToolEntry, refusals: Refusals): ToolEntry {
  const refusal = refusals.find(({ callId }) => callId === entry.callId);
  if (refusal === undefined || entry.state.status !== 'ended') return entry;
  const isPersons = JSON.stringify(refusal.trace ?? '').includes('The answer was no: ');
  const words = refusal.reason.startsWith('The user refused this call.') ? '' : `: ${refusal.reason.split('\n', 1)[0]}`;
  const text = `${isPersons ? 'you refused' : 'not allowed'}${words}`;
  return { ...entry, state: { ...entry.state, ending: { ...entry.state.ending, text } } };
}

/** A call of another day: what it was about, and whether it went well. */
function entryOf(
  callId: string,
  tool: string,
  input: ToolEntry['input'],
  result: ToolResultBlock | undefined,
): ToolEntry {
  const status = result === undefined ? 'interrupted' : result.is_error === true ? 'failed' : 'done';
  const text = typeof result?.content === 'string' ? result.content : '';
  return {
    callId,
    tool,
    title: callTitle(input),
    by: 'model',
    input,
    startedAtMs: 0,
    state: { status: 'ended', ending: { status, text: text.split('\n', 1)[0] ?? '', durationMs: 0 } },
  };
}

function isTyped(message: Message): boolean {
  return message.role === 'user' && ['prompt', 'steer', 'follow_up'].includes(message.origin);
}
