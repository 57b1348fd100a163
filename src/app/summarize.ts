import type { Summarize } from '../context/compact.ts';
import type { Message, Usage } from '../contracts/message.ts';
import type {
  CacheBreakpoint,
  Effort,
  ModelInfo,
  ModelPort,
  ModelRequest,
  RequestMessage,
  SystemPart,
  ToolSpec,
} from '../contracts/model.ts';
import { repair, toRequestMessages } from '../engine/request.ts';

export type SummarizeParts = {
  readonly model: () => string;
  readonly infoOf: (model: string) => ModelInfo;
  readonly port: ModelPort;
  readonly system: () => readonly SystemPart[];
  readonly specs: () => readonly ToolSpec[];
  readonly effort: () => Effort;
  readonly onUsage: (model: string, usage: Usage) => void;
};

const SUMMARY_TOKENS = 8_000;

/** The summary is written by the model in use over the same bytes it has already seen, so that its cache serves. */
export function makeSummarize(parts: SummarizeParts): Summarize {
  return async (messages, instructions, signal) => {
    const model = parts.model();
    const order: Message = {
      role: 'user',
      id: 'summary-order',
      origin: 'nudge',
      blocks: [{ type: 'text', text: instructions }],
    };
    const asked = repair(toRequestMessages([...messages, order]));
    const request: ModelRequest = {
      model,
      maxOutputTokens: Math.min(SUMMARY_TOKENS, parts.infoOf(model).maxOutputTokens),
      system: parts.system(),
      tools: parts.specs(),
      messages: asked,
      breakpoints: [{ at: 'tools' }, { at: 'system' }, ...beforeOrder(asked)],
      effort: parts.effort(),
    };
    const stream = parts.port.stream(request, { restartable: () => true, overloadLimit: 3 }, signal);
    let step = await stream.next();
    while (step.done !== true) step = await stream.next();
    const outcome = step.value;
    if (!outcome.ok) return { ok: false, why: outcome.failure.message };
    parts.onUsage(model, outcome.usage);
    if (outcome.stopReason !== 'end_turn' && outcome.stopReason !== 'stop_sequence') {
      return { ok: false, why: `the summary ended with ${outcome.stopReason}` };
    }
    const text = outcome.message.blocks.flatMap((block) => (block.type === 'text' ? [block.text] : [])).join('');
    return text.trim() === '' ? { ok: false, why: 'the summary was empty' } : { ok: true, text };
  };
}

/** The order was merged into the last message; what stands before it is cached already. */
function beforeOrder(messages: readonly RequestMessage[]): readonly CacheBreakpoint[] {
  const message = messages.length - 1;
  const block = (messages[message]?.blocks.length ?? 0) - 2;
  return block < 0 ? [] : [{ at: 'message', message, block }];
}
