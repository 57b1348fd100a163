import type { Message } from '../../contracts/message.ts';
import { isTypedByPerson } from '../../contracts/message.ts';
import type { PastEvent } from '../../contracts/session.ts';
import { formatCount } from '../../lib/text/format.ts';
import { type HistoryItem, waitingItems } from '../view/history-item.ts';
import { reduceView } from '../view/reduce-view.ts';
import { endAllText, printCalls } from '../view/slice-answer.ts';
import { endAllTools } from '../view/slice-tools.ts';
import { initialView, printing, type ViewState } from '../view/view-state.ts';
import { callTitle } from './call-title.ts';

/** What is printed of earlier turns, and what enter on an empty draft does after them. */
export type Resumed = Pick<ViewState, 'newestCut'> & {
  readonly items: readonly HistoryItem[];
  readonly rest: 'ended' | 'stopped';
};

/**
 * The end of a conversation as it looked when it was said: its events go the way of those that happen now. `messages` are
 * all of it.
 */
export function resumedItems(
  past: readonly PastEvent[],
  messages: readonly Message[],
  facts: ViewState['facts'],
): Resumed {
  const shown = past.reduce(hear, initialView(facts));
  const isOver = past.findLast(({ event }) => event.type === 'agent_start' || event.type === 'agent_end');
  // Nothing tells the end of a run that was killed.
  const ended = isOver?.event.type === 'agent_start' ? cutOff(shown, messages) : shown;
  const isStopped = wasStopped(messages) && ended.rest !== 'stopped';
  const end: readonly HistoryItem[] = isStopped
    ? [{ kind: 'stopped', hint: 'It was stopped here. Say what to do, or press enter to go on.' }]
    : [];
  return {
    items: [...earlierTurns(past, messages), ...waitingItems(ended.outbox).map(asPast), ...end],
    newestCut: ended.newestCut,
    rest: isStopped || ended.rest === 'stopped' ? 'stopped' : 'ended',
  };
}

function hear(view: ViewState, { event, atMs, costUsd }: PastEvent): ViewState {
  const facts = { ...view.facts, costUsd };
  const told = event.type === 'tool_start' && event.title === '' ? { ...event, title: callTitle(event.input) } : event;
  return reduceView({ ...view, facts }, told, atMs);
}

/** What the process was killed in. */
function cutOff(view: ViewState, messages: readonly Message[]): ViewState {
  const settled = printCalls(endAllTools(endAllText(view), 0));
  const last = messages.findLast(({ role }) => role === 'assistant');
  const isCut = last?.role === 'assistant' && last.blocks.some((block) => block.type === 'text' && block.cut === true);
  return isCut ? printing(settled, { kind: 'notice', level: 'warn', text: 'The answer was cut off here.' }) : settled;
}

/** The last run was stopped in its answer: it can go on from there without another word. */
function wasStopped(messages: readonly Message[]): boolean {
  const last = messages.at(-1);
  return last?.role === 'user' && last.origin === 'interrupt';
}

/** Words that came back into the composer then do not stand there now. */
function asPast(item: HistoryItem): HistoryItem {
  return item.kind === 'failure' ? { kind: 'failure', failure: item.failure } : item;
}

function earlierTurns(past: readonly PastEvent[], messages: readonly Message[]): readonly HistoryItem[] {
  const shown = past.filter(({ event }) => event.type === 'message_end' && isTypedByPerson(event.message)).length;
  const earlier = messages.filter(isTypedByPerson).length - shown;
  const text = `… ${formatCount(earlier, 'earlier turn')} (ctrl+o)`;
  return earlier <= 0 ? [] : [{ kind: 'notice', level: 'info', text }];
}
