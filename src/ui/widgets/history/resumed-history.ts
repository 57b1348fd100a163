import { isTypedByUser, type Message } from '../../../contracts/message.ts';
import type { PastRunEvent } from '../../../contracts/session.ts';
import { formatCount } from '../../../lib/text/format.ts';
import { endAllLiveCalls, endAllStreamedText, flushFinishedPieces } from '../../app-state/live-pieces.ts';
import { reduceView } from '../../app-state/reduce-view.ts';
import { addHistoryItems, createViewState, type ViewState } from '../../app-state/view-state.ts';
import { getInputTitle } from '../tool-calls/tool-entry.ts';
import { type HistoryItem, listUnprintedItems } from './history-item.ts';

/** The printed end of a resumed conversation, and the state that its last run ended in. */
export type ResumedHistory = Pick<ViewState, 'lastTruncatedCall'> & {
  readonly items: readonly HistoryItem[];
  readonly lastRunEnd: 'ended' | 'stopped';
};

/** Creates the printed items for the end of a conversation by reducing its past events. */
export function createResumedHistory(
  past: readonly PastRunEvent[],
  messages: readonly Message[],
  facts: ViewState['facts'],
): ResumedHistory {
  const replayed = past.reduce(replayEvent, createViewState(facts));
  const lastBoundary = past.findLast(({ event }) => event.type === 'agent_start' || event.type === 'agent_end');
  // A killed run has no end event.
  const ended = lastBoundary?.event.type === 'agent_start' ? endKilledRun(replayed, messages) : replayed;
  const isStopped = wasStopped(messages) && ended.lastRunEnd !== 'stopped';
  const stopNotice: readonly HistoryItem[] = isStopped
    ? [{ kind: 'stopped', hint: 'The run was stopped here. Type what to do, or press enter to continue.' }]
    : [];
  return {
    items: [
      ...createEarlierTurnsNotice(past, messages),
      ...listUnprintedItems(ended.outbox).map(removeMessageState),
      ...stopNotice,
    ],
    lastTruncatedCall: ended.lastTruncatedCall,
    lastRunEnd: isStopped || ended.lastRunEnd === 'stopped' ? 'stopped' : 'ended',
  };
}

function replayEvent(view: ViewState, { event, atMs, costUsd }: PastRunEvent): ViewState {
  const facts = { ...view.facts, costUsd };
  const titled =
    event.type === 'tool_start' && event.title === '' ? { ...event, title: getInputTitle(event.input) } : event;
  return reduceView({ ...view, facts }, titled, atMs);
}

/** Ends a run that was killed with its process. */
function endKilledRun(view: ViewState, messages: readonly Message[]): ViewState {
  const settled = flushFinishedPieces(endAllLiveCalls(endAllStreamedText(view), 0));
  const last = messages.findLast(({ role }) => role === 'assistant');
  const wasCutOff =
    last?.role === 'assistant' && last.blocks.some((block) => block.type === 'text' && block.cut === true);
  return wasCutOff
    ? addHistoryItems(settled, { kind: 'notice', level: 'warn', text: 'The reply was cut off here.' })
    : settled;
}

/** Returns whether the last run was interrupted, so that it can be continued. */
function wasStopped(messages: readonly Message[]): boolean {
  const last = messages.at(-1);
  return last?.role === 'user' && last.origin === 'interrupt';
}

/** Removes the note about a message that returned to the composer at that time. */
function removeMessageState(item: HistoryItem): HistoryItem {
  return item.kind === 'failure' ? { kind: 'failure', failure: item.failure } : item;
}

function createEarlierTurnsNotice(past: readonly PastRunEvent[], messages: readonly Message[]): readonly HistoryItem[] {
  const replayedTurns = past.filter(({ event }) => event.type === 'message_end' && isTypedByUser(event.message)).length;
  const earlier = messages.filter(isTypedByUser).length - replayedTurns;
  const text = `… ${formatCount(earlier, 'earlier turn')} (ctrl+o)`;
  return earlier <= 0 ? [] : [{ kind: 'notice', level: 'info', text }];
}
