import type { AssistantBlock, AssistantMessage, Usage } from '../../../contracts/message.ts';
import type { ModelEvent, ModelOutcome, ModelPort, ModelRequest } from '../../../contracts/model.ts';
import { ABORTED_FAILURE } from '../../stream/failures.ts';
import { serializeModelRequest } from '../anthropic/messages-request.ts';
import {
  buildTourClosingText,
  createTourCallId,
  type DemoProject,
  deriveTourProgress,
  findEarlierSampleProject,
  getTourStep,
  TOUR_STEPS,
  type TourProgress,
  type TourStepName,
} from './tour.ts';

/** Settings of the demo model. */
export type DemoSettings = {
  /** Sample project of the tour, if there is one. */
  readonly project?: DemoProject;
  /** Delays between pieces of text, so that it appears as if typed. */
  readonly sleep: (ms: number, signal: AbortSignal) => Promise<void>;
};

const MS_PER_PIECE = 12;
const MS_BEFORE_CALL = 120;

/** Creates a scripted model that drives the real loop. It is stateless: its progress is read from the conversation. */
export function createDemoPort({ project, sleep }: DemoSettings): ModelPort {
  return {
    name: 'demo',
    async *stream(request, _options, signal) {
      const blocks = buildDemoReply(request, project);
      const sentBlocks: AssistantBlock[] = [];
      const buildMessage = (): AssistantMessage => ({
        role: 'assistant',
        id: `demo_msg_${request.messages.length}`,
        model: request.model,
        blocks: [...sentBlocks],
        usage: estimateUsage(request, sentBlocks),
      });
      const createAbortedOutcome = (): ModelOutcome => ({
        ok: false,
        failure: ABORTED_FAILURE,
        partial: buildMessage(),
      });

      yield { type: 'request_sent', attempt: 1 };
      if (signal.aborted) return { ok: false, failure: ABORTED_FAILURE };
      const { id: messageId, usage } = buildMessage();
      yield { type: 'message_start', messageId, model: request.model, usage: usage ?? estimateUsage(request, []) };
      for (const [index, block] of blocks.entries()) {
        for await (const event of streamBlock(index, block, { sleep, signal })) yield event;
        if (signal.aborted) return createAbortedOutcome();
        sentBlocks.push(block);
        yield { type: 'block_end', index, block };
      }
      const stopReason = blocks.some((block) => block.type === 'tool_use') ? 'tool_use' : 'end_turn';
      return {
        ok: true,
        message: { ...buildMessage(), stopReason },
        stopReason,
        usage: estimateUsage(request, sentBlocks),
      };
    },
  };
}

type StreamTiming = { readonly sleep: DemoSettings['sleep']; readonly signal: AbortSignal };

async function* streamBlock(
  index: number,
  block: AssistantBlock,
  { sleep, signal }: StreamTiming,
): AsyncGenerator<ModelEvent> {
  yield {
    type: 'block_start',
    index,
    kind: block.type,
    ...(block.type === 'tool_use' && { name: block.name }),
  };
  if (block.type === 'tool_use') {
    await sleep(MS_BEFORE_CALL, signal);
    if (!signal.aborted) yield { type: 'input_delta', index, json: JSON.stringify(block.input) };
    return;
  }
  const text = block.type === 'thinking' ? block.thinking : block.type === 'text' ? block.text : '';
  for (const piece of text.match(/\S*\s*/g)?.filter((part) => part !== '') ?? []) {
    await sleep(MS_PER_PIECE, signal);
    if (signal.aborted) return;
    yield { type: block.type === 'thinking' ? 'thinking_delta' : 'text_delta', index, text: piece };
  }
}

/** Estimates token counts for display; the demo costs nothing. */
function estimateUsage(request: ModelRequest, blocks: readonly AssistantBlock[]): Usage {
  const tokens = (length: number) => Math.ceil(length / 4);
  return {
    inputTokens: tokens(serializeModelRequest(request).length),
    outputTokens: tokens(JSON.stringify(blocks).length),
    cacheReadTokens: 0,
    cacheWriteTokens: 0,
  };
}

/** Builds the demo's next reply from the conversation. */
function buildDemoReply(request: ModelRequest, configuredProject: DemoProject | undefined): readonly AssistantBlock[] {
  const progress = deriveTourProgress(request.messages);
  const project = configuredProject ?? findEarlierSampleProject(request.messages);
  const sideRequest = findSideRequest(request);
  if (sideRequest !== undefined)
    return [
      toTextBlock(
        sideRequest.includes('<summary>')
          ? DEMO_SUMMARY
          : buildCannedAnswer(takeLastParagraph(sideRequest), 'side question'),
      ),
    ];
  if (!project) return [toTextBlock(buildCannedAnswer(progress.userText, 'no project'))];
  // An interrupted call has no result to react to; the user's text decides.
  if (progress.answeredStep && progress.states[progress.answeredStep] !== 'open') {
    return buildReplyToResult(progress.answeredStep, progress, request, project);
  }
  const next = findOpenStep(progress);
  if (next && (isContinueRequest(progress.userText) || (isUnstarted(progress) && !hasCannedAnswer(progress.userText))))
    return buildStep(next, request, project);
  return [toTextBlock(buildCannedAnswer(progress.userText, next ? 'waiting' : 'finished'))];
}

/** Finds the text of a side request, which has instructions of its own or says not to call tools. */
function findSideRequest({ system, messages }: ModelRequest): string | undefined {
  const last = messages.at(-1)?.blocks.at(-1);
  if (last?.type !== 'text') return undefined;
  if (system.some(({ name }) => name === 'side')) return '<summary>';
  return /\bcall no tools\b/i.test(last.text) ? last.text : undefined;
}

function takeLastParagraph(text: string): string {
  return text.split('\n\n').at(-1) ?? '';
}

function buildReplyToResult(
  answeredStep: TourStepName,
  progress: TourProgress,
  request: ModelRequest,
  project: DemoProject,
): readonly AssistantBlock[] {
  const acknowledgement =
    progress.userText === '' || isContinueRequest(progress.userText)
      ? ''
      : 'My answers are scripted: a real model would take your message into account.\n\n';
  const state = progress.states[answeredStep];
  // The file changed or was read in another session: read it again, once, before the edit.
  if (state === 'stale') {
    return countAttempts(answeredStep, request) < 2
      ? buildStep(
          'read',
          request,
          project,
          `${acknowledgement}The file has changed since I read it, so I read it again.`,
        )
      : [toTextBlock(`${acknowledgement}The file no longer has the line this demo is about, so I leave it alone.`)];
  }
  if (state === 'declined' || state === 'failed') {
    const { declined, failed = declined } = getTourStep(answeredStep, project);
    const { text, next } = state === 'declined' ? declined : failed;
    return next === 'end'
      ? [toTextBlock(acknowledgement + addClosing(answeredStep, text, project))]
      : buildStep(next, request, project, acknowledgement + text);
  }
  const next = findOpenStep(progress);
  return next
    ? buildStep(next, request, project, acknowledgement)
    : [toTextBlock(acknowledgement + buildTourClosingText(project))];
}

function addClosing(answeredStep: TourStepName, text: string, project: DemoProject): string {
  return answeredStep === 'receipt' ? `${text}\n\n${buildTourClosingText(project)}` : text;
}

function buildStep(
  name: TourStepName,
  request: ModelRequest,
  project: DemoProject,
  before = '',
): readonly AssistantBlock[] {
  const step = getTourStep(name, project);
  const text = before === '' || before.endsWith('\n\n') ? `${before}${step.text}` : `${before}\n\n${step.text}`;
  const call = {
    type: 'tool_use',
    id: createTourCallId(name, request.messages),
    name: step.tool,
    input: step.input,
  } as const;
  const isThinking = step.thinking !== undefined && request.effort !== 'off';
  return [
    ...(isThinking ? [{ type: 'thinking', thinking: step.thinking, signature: 'demo' } as const] : []),
    toTextBlock(text),
    call,
  ];
}

/** Finds the first step that is not settled. Declined `read` and `edit` steps are offered again. */
function findOpenStep({ states }: TourProgress): TourStepName | undefined {
  const isSettled = (step: TourStepName) =>
    states[step] === 'done' ||
    states[step] === 'failed' ||
    (states[step] === 'declined' && step !== 'edit' && step !== 'read');
  return TOUR_STEPS.find((step) => !isSettled(step));
}

function isUnstarted({ states }: TourProgress): boolean {
  return TOUR_STEPS.every((step) => states[step] === 'open');
}

function countAttempts(step: TourStepName, request: ModelRequest): number {
  const ids = request.messages.flatMap((message) =>
    message.role === 'assistant' ? message.blocks.map((block) => (block.type === 'tool_use' ? block.id : '')) : [],
  );
  return ids.filter((id) => id.startsWith(`demo_${step}_`)).length;
}

function toTextBlock(text: string): AssistantBlock {
  return { type: 'text', text };
}

/** State of the tour when the user asks something else. */
type TourState = 'waiting' | 'finished' | 'no project' | 'side question';

/** Answer of the demo to a request for a summary. */
const DEMO_SUMMARY = 'A demo session: a scripted model walked through a small sample project.';

/** Returns true if the text asks to continue the tour. */
function isContinueRequest(text: string): boolean {
  return /^\s*(?:y|yes|ok|okay|go|go on|go ahead|continue|next|start|resume|again)\b|\b(?:fix|test|tests|bug|fail|failing|demo|tour|show me)\b/i.test(
    text,
  );
}

/** Returns true if the demo has a prepared answer to the text. */
function hasCannedAnswer(text: string): boolean {
  return ANSWERS.some(([pattern]) => pattern.test(text));
}

/** Returns the prepared answer to a text, or says that there is none, followed by how to continue. */
function buildCannedAnswer(text: string, tourState: TourState): string {
  const match = ANSWERS.find(([pattern]) => pattern.test(text));
  return [match?.[1] ?? UNKNOWN_ANSWER, NEXT_STEP[tourState]].join('\n\n');
}

const ANSWERS: readonly (readonly [RegExp, string])[] = [
  [
    /\b(?:who|what) are you|real model|which model|scripted|are you (?:an? )?(?:ai|real)/i,
    'I am the built-in demo: a few prepared answers, no language model. The tools, permissions and files are real.',
  ],
  [
    /\b(?:key|token|account|log ?in|sign ?in|api|provider|ollama|local)\b/i,
    'For a real model set ANTHROPIC_API_KEY, or run a local server (Ollama, LM Studio, llama.cpp, vLLM) and choose it with `/model`.',
  ],
  [
    /\b(?:help|can you|commands?|keys|shortcuts?)\b/i,
    '`/help` lists commands and keys. Esc interrupts, Shift+Tab changes the permission mode, `/undo` takes back the last change.',
  ],
  [/\b(?:thanks?|thank you|bye|great|nice|cool)\b/i, 'Glad you like it.'],
];

const UNKNOWN_ANSWER =
  'This is the demo, and I have no line for that: my answers are prepared, a real model would read yours.';

const NEXT_STEP: Readonly<Record<TourState, string>> = {
  waiting: 'Say `go on` and the tour continues where it stopped.',
  finished: 'The tour is over. Leave with Ctrl+C twice, or look around: the files in this folder are real.',
  'side question': 'The tour continues where it stopped.',
  'no project':
    'The tour needs its sample project: start it with `ouro demo`. Or set ANTHROPIC_API_KEY to work with a real model here.',
};
