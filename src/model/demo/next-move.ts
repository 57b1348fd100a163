import type { AssistantBlock } from '../../contracts/message.ts';
import type { ModelRequest } from '../../contracts/model.ts';
import { cannedAnswer, isGo, isQuestion, SUMMARY } from './answers.ts';
import { callId, type DemoProgress, earlierStage, readProgress } from './progress.ts';
import { closing, type DemoStage, STEPS, type StepName, stepOf } from './script.ts';

/** The demo's next reply, decided from the conversation alone. */
export function nextMove(request: ModelRequest, given: DemoStage | undefined): readonly AssistantBlock[] {
  const progress = readProgress(request.messages);
  const stage = given ?? earlierStage(request.messages);
  const order = orderIn(request);
  if (order !== undefined) return [say(order.includes('<summary>') ? SUMMARY : cannedAnswer(lastPart(order), 'aside'))];
  if (!stage) return [say(cannedAnswer(progress.words, 'no stage'))];
  // An interrupted call is no answer: the person speaks next.
  if (progress.answered && progress.states[progress.answered] !== 'open') {
    return afterResult(progress.answered, progress, request, stage);
  }
  const next = firstOpen(progress);
  if (next && (isGo(progress.words) || (isFresh(progress) && !isQuestion(progress.words))))
    return perform(next, request, stage);
  return [say(cannedAnswer(progress.words, next ? 'waiting' : 'finished'))];
}

/** What is asked on the side says that nothing may be called, or offers nothing to call. */
function orderIn({ tools, messages }: ModelRequest): string | undefined {
  const last = messages.at(-1)?.blocks.at(-1);
  if (last?.type !== 'text') return undefined;
  if (tools.length === 0) return '<summary>';
  return /\bcall no tools\b/i.test(last.text) ? last.text : undefined;
}

function lastPart(words: string): string {
  return words.split('\n\n').at(-1) ?? '';
}

function afterResult(
  answered: StepName,
  progress: DemoProgress,
  request: ModelRequest,
  stage: DemoStage,
): readonly AssistantBlock[] {
  const acknowledged =
    progress.words === '' || isGo(progress.words)
      ? ''
      : 'I heard you, but my lines are fixed: a real model would take that into account.\n\n';
  const state = progress.states[answered];
  // The file changed, or was read in another session: look again, once, before the edit.
  if (state === 'stale') {
    return timesTried(answered, request) < 2
      ? perform('read', request, stage, `${acknowledged}The file is not as I remember it, so I look again.`)
      : [say(`${acknowledged}The file no longer has the line this demo is about, so I leave it alone.`)];
  }
  if (state === 'declined') {
    const { text, next } = stepOf(answered, stage).declined;
    return next === 'end'
      ? [say(acknowledged + endOf(answered, text, stage))]
      : perform(next, request, stage, acknowledged + text);
  }
  const next = firstOpen(progress);
  return next ? perform(next, request, stage, acknowledged) : [say(acknowledged + closing(stage))];
}

function endOf(answered: StepName, text: string, stage: DemoStage): string {
  return answered === 'receipt' ? `${text}\n\n${closing(stage)}` : text;
}

function perform(name: StepName, request: ModelRequest, stage: DemoStage, before = ''): readonly AssistantBlock[] {
  const step = stepOf(name, stage);
  const text = before === '' || before.endsWith('\n\n') ? `${before}${step.text}` : `${before}\n\n${step.text}`;
  const call = { type: 'tool_use', id: callId(name, request.messages), name: step.tool, input: step.input } as const;
  const isThinking = step.thinking !== undefined && request.effort !== 'off';
  return [
    ...(isThinking ? [{ type: 'thinking', thinking: step.thinking, signature: 'demo' } as const] : []),
    say(text),
    call,
  ];
}

/** The first step that still has something to show. A retest only makes sense once the edit is in. */
function firstOpen({ states }: DemoProgress): StepName | undefined {
  const settled = (step: StepName) =>
    states[step] === 'done' || (states[step] === 'declined' && step !== 'edit' && step !== 'read');
  return STEPS.find((step) => !settled(step));
}

function isFresh({ states }: DemoProgress): boolean {
  return STEPS.every((step) => states[step] === 'open');
}

function timesTried(step: StepName, request: ModelRequest): number {
  const ids = request.messages.flatMap((message) =>
    message.role === 'assistant' ? message.blocks.map((block) => (block.type === 'tool_use' ? block.id : '')) : [],
  );
  return ids.filter((id) => id.startsWith(`demo_${step}_`)).length;
}

function say(text: string): AssistantBlock {
  return { type: 'text', text };
}
