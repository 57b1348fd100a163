import { z } from 'zod';
import { type Handler, handler, nothing } from '../handler.ts';
import { modelRows } from '../rows.ts';

/** Model, mode and thinking of the turns to come. */
export const runHandlers: Readonly<Record<string, Handler>> = {
  set_permission_mode: handler(z.object({ mode: z.string() }), ({ mode }, { conversation }) => {
    const outcome = conversation.setMode(mode);
    if (!outcome.ok) throw new Error(outcome.why);
    return { mode: outcome.mode };
  }),
  set_model: handler(z.object({ model: z.string().nullish() }), async ({ model }, { conversation }) => {
    const outcome = await conversation.setModel(model == null || model === 'default' ? undefined : model);
    if (!outcome.ok) throw new Error(outcome.why);
    return { model: outcome.model };
  }),
  set_max_thinking_tokens: handler(
    z.object({ max_thinking_tokens: z.number().int().min(0).nullish() }),
    ({ max_thinking_tokens: tokens }, { conversation }) => {
      if (tokens !== undefined) conversation.setThinkingTokens(tokens ?? undefined);
      return {};
    },
  ),
  list_models: handler(nothing, async (_, { conversation }) => ({ models: await modelRows(conversation) })),
  get_binary_version: handler(nothing, (_, { conversation }) => ({ version: conversation.info().version })),
};
