import type { AssistantBlock, AssistantMessage, Usage } from '../../../contracts/message.ts';
import type { ModelEvent, ModelOutcome, ModelPort, ModelRequest } from '../../../contracts/model.ts';
import { ABORTED_FAILURE } from '../../stream/failures.ts';
import { serializeModelRequest } from '../anthropic/messages-request.ts';
import { buildDemoReply } from './demo-reply.ts';
import type { DemoProject } from './tour.ts';

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
