import type { OpenAI } from 'openai/client';
import type { ModelPort } from '../../contracts/model.ts';
import { once } from '../../lib/once.ts';
import type { Patience } from '../wire/attempt.ts';
import { idRuleOf, toolNames } from '../wire/openai-names.ts';
import { createForms } from '../wire/request-forms.ts';
import { failureOfThrown } from '../wire/stream-failures.ts';
import { addressOf } from '../wire/stream-response.ts';
import { createWirePort } from '../wire/wire-port.ts';
import { createResponsesReader } from './from-responses.ts';
import { responsesFormAfter, toResponses, USUAL_RESPONSES_FORM } from './to-responses.ts';

/** OpenAI's own API, Azure's form of it, or a gateway that speaks it. */
export type ResponsesSettings = {
  /** Up to and including the version, as in `https://api.openai.com/v1`. */
  readonly baseUrl: string;
  readonly apiKey?: string;
  readonly name: string;
  /** Azure knows a key by a header of its own; without a key a token is asked for at each request. */
  readonly azureToken?: () => Promise<string>;
  readonly patience?: () => Partial<Patience>;
  readonly fetch?: typeof fetch;
};

/** A model that thinks hard says nothing for minutes. */
const PATIENCE: Patience = { headerTimeoutMs: 300_000, idleTimeoutMs: 300_000 };
/** Longer than anybody waits: the clocks are ours. */
const LIBRARY_TIMEOUT_MS = 86_400_000;

/** The Responses API, one try per stream; one that is refused for its form is sent once more in another, which is kept. */
export function createResponsesPort(settings: ResponsesSettings): ModelPort {
  const { baseUrl, name, patience } = settings;
  const idOf = idRuleOf('https://api.openai.com');
  const inForm = createForms(USUAL_RESPONSES_FORM, responsesFormAfter);
  const client = once(() => loadClient(settings));
  return createWirePort(
    {
      name,
      patience: PATIENCE,
      prepare: client,
      open: (request, asked, attempt) =>
        inForm(request.model, attempt, async (form) => {
          try {
            const body = toResponses(request, form, idOf);
            const headers = await identity(settings, asked);
            const options = { body, headers, signal: attempt.signal, stream: true };
            return await (await client()).post('/responses', options).asResponse();
          } catch (thrown) {
            return attempt.endedBy() ?? failureOfThrown(thrown, addressOf(baseUrl));
          }
        }),
      readerFor: ({ tools }) => createResponsesReader(toolNames(tools)),
    },
    patience,
  );
}

async function identity(
  { apiKey, azureToken }: ResponsesSettings,
  asked: string | undefined,
): Promise<Record<string, string | null>> {
  const key = asked ?? apiKey;
  if (azureToken === undefined) return { authorization: key === undefined ? null : `Bearer ${key}` };
  if (key !== undefined) return { 'api-key': key, authorization: null };
  return { authorization: `Bearer ${await azureToken()}` };
}

async function loadClient({ baseUrl, fetch: send }: ResponsesSettings): Promise<OpenAI> {
  const { OpenAI } = await import('openai/client');
  return new OpenAI({
    // Who we are comes with each request.
    apiKey: 'with each request',
    baseURL: baseUrl.replace(/\/+$/, ''),
    maxRetries: 0,
    timeout: LIBRARY_TIMEOUT_MS,
    // Everything written to the terminal is ours.
    logLevel: 'off',
    // A redirect would contact a host nobody configured.
    fetchOptions: { redirect: 'manual' },
    ...(send && { fetch: send }),
  });
}
