import type { Message } from '../contracts/message.ts';
import type { ContextPort } from '../contracts/query.ts';
import { createTokenEstimator, sumNumbers } from './token-estimate.ts';

/** The fill level of the context window at which a level is asked. */
export type ContextFill = {
  /** Estimated tokens of the next request. */
  readonly tokens: number;
  /** Tokens at which a summary is written. */
  readonly limitTokens: number;
};

/**
 * A level of the context pipeline. Levels run in order, after the built-in ones (exclusion of old results) and before
 * the summary. They change what is sent, not the conversation.
 */
export type ContextLevel = {
  readonly name: string;
  /** Share of the limit from which the level runs, between 0 and 1. By default 0.7. */
  readonly at?: number;
  /** Returns the messages to send. The same messages should give the same result, so that caches stay valid. */
  readonly reduce: (
    messages: readonly Message[],
    fill: ContextFill,
  ) => readonly Message[] | Promise<readonly Message[]>;
};

const DEFAULT_SHARE = 0.7;

/** Adds the levels of the application to a context port. */
export function addContextReductionLevels(
  context: ContextPort,
  levels: readonly ContextLevel[],
  model: () => { readonly id: string; readonly contextWindow: number },
): ContextPort {
  if (levels.length === 0) return context;
  const { messageTokens } = createTokenEstimator();
  const estimate = (messages: readonly Message[]) => sumNumbers(messages.map(messageTokens));
  return {
    ...bindContextPortMethods(context),
    async prepare(messages) {
      const prepared = await context.prepare(messages);
      const { id, contextWindow } = model();
      const limitTokens = Math.min(context.limits(id).compactAt, contextWindow);
      let { view } = prepared;
      // A port that counts nothing reports 0 tokens.
      let tokens = prepared.tokens === 0 ? estimate(view) : prepared.tokens;
      for (const { at = DEFAULT_SHARE, reduce } of levels) {
        if (tokens < at * limitTokens) continue;
        const reduced = await reduce(view, { tokens, limitTokens });
        tokens = Math.max(0, tokens - Math.max(0, estimate(view) - estimate(reduced)));
        view = reduced;
      }
      return { ...prepared, view, tokens };
    },
  };
}

/** Copies a port so that its methods keep their object, which may be of a class. */
export function bindContextPortMethods(context: ContextPort): ContextPort {
  return {
    prepare: (messages) => context.prepare(messages),
    compact: (messages, trigger, signal, model) => context.compact(messages, trigger, signal, model),
    drain: (messages) => context.drain(messages),
    limits: (model) => context.limits(model),
    calibrate: (view, tokens, cleared) => context.calibrate(view, tokens, cleared),
  };
}
