import type { AssistantBlock, AssistantMessage, Usage } from '../../contracts/message.ts';
import type { ModelEvent, ModelOutcome, ModelPort, ModelRequest } from '../../contracts/model.ts';
import { ABORTED } from '../wire/stream-failures.ts';
import { requestBytes } from '../wire/to-wire.ts';
import { nextMove } from './next-move.ts';
import type { DemoStage } from './script.ts';

/** What the demo needs: its stage, when there is a sample project, and a sleep to type at a pleasant pace. */
export type DemoSettings = {
  readonly stage?: DemoStage;
  readonly sleep: (ms: number, signal: AbortSignal) => Promise<void>;
};

const MS_PER_PIECE = 12;
const MS_BEFORE_CALL = 120;

/** A scripted model that drives the real loop. It keeps no state: where it stands is read from the conversation. */
export function createDemoPort({ stage, sleep }: DemoSettings): ModelPort {
  return {
    name: 'demo',
    async *stream(request, _options, signal) {
      const blocks = nextMove(request, stage);
      const said: AssistantBlock[] = [];
      const message = (): AssistantMessage => ({
        role: 'assistant',
        id: `demo_msg_${request.messages.length}`,
        model: request.model,
        blocks: [...said],
        usage: usageOf(request, said),
      });
      const aborted = (): ModelOutcome => ({ ok: false, failure: ABORTED, partial: message() });

      yield { type: 'request_sent', attempt: 1 };
      if (signal.aborted) return { ok: false, failure: ABORTED };
      const { id: messageId, usage } = message();
      yield { type: 'message_start', messageId, model: request.model, usage: usage ?? usageOf(request, []) };
      for (const [index, block] of blocks.entries()) {
        for await (const event of typeOut(index, block, { sleep, signal })) yield event;
        if (signal.aborted) return aborted();
        said.push(block);
        yield { type: 'block_end', index, block };
      }
      const stopReason = blocks.some((block) => block.type === 'tool_use') ? 'tool_use' : 'end_turn';
      return { ok: true, message: { ...message(), stopReason }, stopReason, usage: usageOf(request, said) };
    },
  };
}

type Timing = { readonly sleep: DemoSettings['sleep']; readonly signal: AbortSignal };

async function* typeOut(index: number, block: AssistantBlock, { sleep, signal }: Timing): AsyncGenerator<ModelEvent> {
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

/** Rough counts, so that the screen has something to show; nothing of it costs anything. */
function usageOf(request: ModelRequest, said: readonly AssistantBlock[]): Usage {
  const tokens = (length: number) => Math.ceil(length / 4);
  return {
    inputTokens: tokens(requestBytes(request).length),
    outputTokens: tokens(JSON.stringify(said).length),
    cacheReadTokens: 0,
    cacheWriteTokens: 0,
  };
}
