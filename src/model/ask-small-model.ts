import type { Usage } from '../contracts/message.ts';
import type { ModelPort } from '../contracts/model.ts';
import { drainReply } from './stream/drain-reply.ts';

/** The port and the small model that belongs to the model in use. */
export type SideModel = { readonly port: ModelPort; readonly smallModel: () => string | undefined };

/** A prompt for the small model: for a title, a summary, an answer about a web page. */
export type SmallModelPrompt = {
  /** `undefined` if the provider has no small model; then no request is made. */
  readonly model: string | undefined;
  readonly system: string;
  readonly prompt: string;
  readonly maxTokens?: number;
  /** Called with the usage of the reply. */
  readonly onUsage?: (model: string, usage: Usage) => void;
};

const DEFAULT_MAX_TOKENS = 1024;

/** Returns the small model's answer, or `undefined` on any failure: side calls must not break their caller. */
export async function askSmallModel(
  port: ModelPort,
  { model, system, prompt, maxTokens = DEFAULT_MAX_TOKENS, onUsage }: SmallModelPrompt,
  signal: AbortSignal,
): Promise<string | undefined> {
  if (model === undefined || signal.aborted) return undefined;
  const request = {
    model,
    maxOutputTokens: maxTokens,
    system: [{ name: 'side', text: system }],
    tools: [],
    messages: [{ role: 'user', blocks: [{ type: 'text', text: prompt }] }],
    breakpoints: [],
    effort: 'off',
  } as const;
  try {
    const stream = port.stream(request, { restartable: () => true, overloadLimit: 2, maxRetries: 2 }, signal);
    const outcome = await drainReply(stream);
    if (!outcome.ok) return undefined;
    onUsage?.(model, outcome.usage);
    const text = outcome.message.blocks.map((block) => (block.type === 'text' ? block.text : '')).join('');
    return text.trim() === '' ? undefined : text.trim();
  } catch {
    // A port that throws is a bug, but a side call is not worth a crash.
    return undefined;
  }
}

/** Limit of each part of a conversation that a side call quotes. */
export const MAX_PROMPT_CHARS = 2_000;
/** The time after which a side call is given up. */
export const SIDE_CALL_TIMEOUT_MS = 20_000;
