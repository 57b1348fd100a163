import type { JsonObject } from '../contracts/json.ts';
import type { ModelFailure, ModelPort, ModelRequest, StreamOptions } from '../contracts/model.ts';
import { askedKey } from './keys/asked-key.ts';
import type { ReasoningWish } from './presets.ts';
import { type ModelAttempt, type Patience, patienceOf, startAttempt } from './wire/attempt.ts';
import { classifyResponse } from './wire/failures.ts';
import { createChunkReader } from './wire/openai-from-wire.ts';
import { idRuleOf, toolNames } from './wire/openai-names.ts';
import { type ChatForm, formAfter, placeInRequest, toChatCompletion, USUAL_FORM } from './wire/openai-to-wire.ts';
import { readReply } from './wire/read-reply.ts';
import { ABORTED, failureOfThrown } from './wire/stream-failures.ts';
import { addressOf, readBody } from './wire/stream-response.ts';

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
  const send = settings.fetch ?? fetch;
  const idOf = idRuleOf(addressOf(url));
  const isOpenAi = addressOf(url) === 'https://api.openai.com';
  const firstForm: ChatForm = {
    ...USUAL_FORM,
    effort: settings.reasoning,
    ...(isOpenAi && { limitField: 'max_completion_tokens' }),
  };
  const forms = new Map<string, ChatForm>();

  async function open(
    request: ModelRequest,
    { getApiKey }: Pick<StreamOptions, 'getApiKey'>,
    attempt: ModelAttempt,
  ): Promise<Response | ModelFailure> {
    const asked = await askedKey(getApiKey);
    if (typeof asked === 'object') return asked;
    const key = asked ?? settings.apiKey;
    const tried = new Set<string>();
    while (true) {
      const form = forms.get(request.model) ?? firstForm;
      const answer = await post(toChatCompletion(request, form, idOf), key, attempt);
      const other = answer instanceof Response ? undefined : formAfter(form, answer);
      tried.add(JSON.stringify(form));
      if (other === undefined || tried.has(JSON.stringify(other)) || attempt.endedBy()) return answer;
      forms.set(request.model, other);
    }
  }

  async function post(
    body: JsonObject,
    key: string | undefined,
    attempt: ModelAttempt,
  ): Promise<Response | ModelFailure> {
    try {
      const response = await send(url, {
        method: 'POST',
        headers: {
          'content-type': 'application/json',
          accept: 'text/event-stream',
          ...(key && { authorization: `Bearer ${key}` }),
        },
        body: JSON.stringify(body),
        signal: attempt.signal,
        // A redirect would contact a host nobody configured.
        redirect: 'manual',
      });
      if (response.ok) return response;
      const { status, headers } = response;
      const said = await readBody(response);
      return attempt.endedBy() ?? classifyResponse({ status, body: said, header: (name) => headers.get(name) });
    } catch (thrown) {
      return attempt.endedBy() ?? failureOfThrown(thrown, addressOf(url));
    }
  }

  return {
    name: settings.name ?? 'openai-compatible',
    async *stream(request, options, signal) {
      if (signal.aborted) return { ok: false, failure: ABORTED };
      const attempt = startAttempt(patienceOf(LOCAL_PATIENCE, settings.patience?.(), options.timeoutMs), signal);
      try {
        const opening = open(request, options, attempt);
        yield { type: 'request_sent', attempt: 1 };
        const response = await opening;
        if (!(response instanceof Response)) return { ok: false, failure: located(response, request) };
        const newId = () => crypto.randomUUID();
        const reader = createChunkReader(newId, toolNames(request.tools));
        const outcome = yield* readReply(response, { reader, model: request.model, newId, attempt, options });
        return outcome.ok ? outcome : { ...outcome, failure: located(outcome.failure, request) };
      } finally {
        attempt.close();
      }
    },
  };
}

/** A refused place is one of ours again. */
function located(failure: ModelFailure, request: ModelRequest): ModelFailure {
  const { refusedAt } = failure;
  return refusedAt === undefined ? failure : { ...failure, refusedAt: placeInRequest(request, refusedAt) };
}
