import type { ModelFailure, ModelPort, ModelRequest } from '../contracts/model.ts';
import { createChunkReader } from './chat/openai-from-wire.ts';
import { formAfter, placeInRequest, toChatCompletion, USUAL_FORM } from './chat/openai-to-wire.ts';
import type { ReasoningWish } from './presets.ts';
import type { Patience } from './wire/attempt.ts';
import { idRuleOf, toolNames } from './wire/openai-names.ts';
import { postJson } from './wire/post-json.ts';
import { createForms } from './wire/request-forms.ts';
import { addressOf } from './wire/stream-response.ts';
import { createWirePort } from './wire/wire-port.ts';

/** Any server that speaks chat completions. */
export type OpenAiSettings = {
  /** Up to and including the version, as in `http://127.0.0.1:11434/v1`. */
  readonly baseUrl: string;
  readonly apiKey?: string;
  /** What people call it, for messages. */
  readonly name?: string;
  readonly reasoning?: ReasoningWish | undefined;
  /** Asked at each request. */
  readonly patience?: () => Partial<Patience>;
  readonly fetch?: typeof fetch;
};

/** A model on a laptop may read a long prompt for minutes before its first word. */
const LOCAL_PATIENCE: Patience = { headerTimeoutMs: 600_000, idleTimeoutMs: 300_000 };

/** Chat completions, one try per stream; one that is refused for its form is sent once more in another, which is kept. */
export function createOpenAiPort(settings: OpenAiSettings): ModelPort {
  const url = `${settings.baseUrl.replace(/\/+$/, '')}/chat/completions`;
  const { fetch: send = fetch, apiKey, name = 'openai-compatible', reasoning: effort, patience } = settings;
  const idOf = idRuleOf(addressOf(url));
  const isOpenAi = addressOf(url) === 'https://api.openai.com';
  const limit = isOpenAi ? ({ limitField: 'max_completion_tokens' } as const) : {};
  const inForm = createForms({ ...USUAL_FORM, effort, ...limit }, formAfter);
  return createWirePort(
    {
      name,
      patience: LOCAL_PATIENCE,
      open: (request, asked, attempt) =>
        inForm(request.model, attempt, (form) => {
          const key = asked ?? apiKey;
          const headers: Record<string, string> = key ? { authorization: `Bearer ${key}` } : {};
          return postJson(url, { headers, body: toChatCompletion(request, form, idOf), send }, attempt);
        }),
      readerFor: ({ tools }, newId) => createChunkReader(newId, toolNames(tools)),
      located,
    },
    patience,
  );
}

/** A refused place is one of ours again. */
function located(failure: ModelFailure, request: ModelRequest): ModelFailure {
  const { refusedAt } = failure;
  return refusedAt === undefined ? failure : { ...failure, refusedAt: placeInRequest(request, refusedAt) };
}
