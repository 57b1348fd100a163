import type { Message, ToolResultBlock, ToolUseBlock } from '../../contracts/message.ts';
import { callsIn, describeCall, describeSize, resultsIn } from '../calls.ts';
import { sum, textTokens } from '../tokens.ts';
import { type Facts, isPinned, type Proposal, type ViewEntry } from './levels.ts';

const MIN_CALLS = 3;
const MAX_NAMED_CALLS = 12;

type Step = { readonly messages: readonly Message[]; readonly calls: readonly ToolUseBlock[] };

/** Level d: runs of calls that only looked around fold into one line each. */
export function collapse(facts: Facts): readonly Proposal[] {
  return runs(facts).flatMap((run): Proposal[] => {
    const calls = run.flatMap((step) => step.calls);
    if (calls.length < MIN_CALLS) return [];
    const messages = run.flatMap((step) => step.messages);
    const text = foldText(calls, new Map(messages.flatMap(resultsIn).map((result) => [result.tool_use_id, result])));
    const freed = sum(messages.map(facts.estimate.messageTokens)) - textTokens(text);
    const messageIds = messages.map((message) => message.id);
    if (freed <= 0) return [];
    return [{ decision: { level: 'collapse', messageIds, callIds: calls.map((call) => call.id), text }, freed }];
  });
}

/** Consecutive replies without words whose calls all only looked, each with its results. */
function runs(facts: Facts): readonly (readonly Step[])[] {
  const found: Step[][] = [];
  let run: Step[] = [];
  for (let index = 0; index < facts.tailFrom; index += 1) {
    const step = stepAt(facts, index);
    if (step === undefined) {
      found.push(run);
      run = [];
    } else {
      run.push(step);
      index += 1;
    }
  }
  return [...found, run];
}

function stepAt(facts: Facts, index: number): Step | undefined {
  const reply = viewAt(facts.entries, index);
  const answer = viewAt(facts.entries, index + 1);
  if (reply?.role !== 'assistant' || answer?.role !== 'user' || index + 1 >= facts.tailFrom) return undefined;
  const calls = callsIn(reply);
  const isSilent = reply.blocks.every((block) => block.type !== 'text' || block.text.trim() === '');
  const isForeign = reply.blocks.some((block) => block.type === 'server');
  if (calls.length === 0 || !isSilent || isForeign || isPinned(answer)) return undefined;
  const ids = new Set(resultsIn(answer).map((result) => result.tool_use_id));
  const isLooking = ({ name }: ToolUseBlock) => facts.toolNamed(name)?.result === 'repeatable';
  const isWhole = calls.every((call) => isLooking(call) && ids.has(call.id) && !facts.isFinal(call.id));
  return isWhole ? { messages: [reply, answer], calls } : undefined;
}

function viewAt(entries: readonly ViewEntry[], index: number): Message | undefined {
  return entries[index]?.view;
}

function foldText(calls: readonly ToolUseBlock[], results: ReadonlyMap<string, ToolResultBlock>): string {
  const named = calls.slice(0, MAX_NAMED_CALLS).map((call) => {
    const result = results.get(call.id);
    return result === undefined ? describeCall(call) : `${describeCall(call)} (${outcomeOf(result)})`;
  });
  const more = calls.length > MAX_NAMED_CALLS ? `; and ${calls.length - MAX_NAMED_CALLS} more` : '';
  return `<reminder>To save room, ${calls.length} earlier calls are folded: ${named.join('; ')}${more}. Repeat one if you need its result.</reminder>`;
}

function outcomeOf(result: ToolResultBlock): string {
  return result.is_error === true ? 'failed' : describeSize(result) || 'empty';
}
