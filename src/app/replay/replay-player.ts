import type { ModelEvent, ModelOutcome, ModelPort } from '../../contracts/model.ts';
import { requestBytes } from '../../model/wire/to-wire.ts';
import { wholeDigest } from '../../session/request-digest.ts';
import type { RecordedRun, RecordedStep } from './recorded-runs.ts';
import { type Difference, firstDifference } from './replay-session.ts';

/** Goes through the steps of a run as they are asked for. */
export function createPlayer({ steps, end }: RecordedRun, stop: AbortController) {
  let asked = 0;
  let difference: Difference | undefined;
  const current = () => steps[Math.max(0, asked - 1)];
  const upcoming = () => steps[Math.min(asked, steps.length - 1)];

  const model: ModelPort = {
    name: 'replay',
    async *stream(request) {
      const step = steps[asked];
      asked += 1;
      if (step === undefined) {
        const last = steps.at(-1)?.request ?? 0;
        difference = { request: last, where: 'what follows it', now: 'the loop asks again, and the record has ended' };
        return stopped();
      }
      const bytes = requestBytes(request);
      if (wholeDigest(bytes) !== step.recorded.whole) {
        difference = firstDifference(step.request, step.recorded, bytes);
        return stopped();
      }
      // Who stopped it there cannot be asked again.
      if (end === undefined && asked === steps.length) return stopped();
      return yield* reply(step);
    },
  };

  function stopped(): ModelOutcome {
    stop.abort();
    return { ok: false, failure: { kind: 'aborted', message: 'The record ends here.' } };
  }

  return { model, current, upcoming, asked: () => asked, difference: () => difference };
}

export type Player = ReturnType<typeof createPlayer>;

const NO_USAGE = { inputTokens: 0, outputTokens: 0, cacheReadTokens: 0, cacheWriteTokens: 0 };

async function* reply({ turn, blocks, recorded }: RecordedStep): AsyncGenerator<ModelEvent, ModelOutcome> {
  const { messageId, failure, stopReason = 'end_turn', usage = NO_USAGE } = turn ?? {};
  const model = String(recorded.rest.model);
  const own = blocks.filter((one) => one.messageId === messageId).map(({ block }) => block);
  if (messageId !== undefined) yield { type: 'message_start', messageId, model, usage };
  for (const [index, block] of own.entries()) yield { type: 'block_end', index, block };
  if (failure !== undefined) return { ok: false, failure };
  const message = { role: 'assistant', id: messageId ?? '', model, blocks: own } as const;
  return { ok: true, message, stopReason, usage };
}
