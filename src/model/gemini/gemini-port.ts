import type { JsonObject } from '../../contracts/json.ts';
import type { ModelPort, ModelRequest } from '../../contracts/model.ts';
import type { Patience } from '../wire/attempt.ts';
import { toolNames } from '../wire/openai-names.ts';
import { postJson } from '../wire/post-json.ts';
import { createForms } from '../wire/request-forms.ts';
import { numberOf, objectOf, parseJson } from '../wire/wire-json.ts';
import { createWirePort } from '../wire/wire-port.ts';
import { createGeminiReader } from './from-gemini.ts';
import { geminiFormAfter, toGemini, USUAL_GEMINI_FORM } from './to-gemini.ts';

/** Google's own API for Gemini. */
export type GeminiSettings = {
  /** Up to and including the version; the address of its chat completions means the same. */
  readonly baseUrl: string;
  readonly apiKey?: string;
  readonly name: string;
  readonly patience?: () => Partial<Patience>;
  readonly fetch?: typeof fetch;
};

/** A model that thinks hard says nothing for minutes. */
const PATIENCE: Patience = { headerTimeoutMs: 300_000, idleTimeoutMs: 300_000 };

/** Gemini, one try per stream; one that is refused for its form is sent once more in another, which is kept. */
export function createGeminiPort(settings: GeminiSettings): ModelPort {
  const { name, patience, fetch: send = fetch } = settings;
  const base = settings.baseUrl.replace(/\/+$/, '').replace(/\/openai$/, '');
  const inForm = createForms(USUAL_GEMINI_FORM, geminiFormAfter);
  const urlOf = (model: string, verb: string) =>
    `${base}/models/${encodeURIComponent(model.replace(/^models\//, ''))}:${verb}`;

  function headersFor(asked?: string): Readonly<Record<string, string>> {
    const key = asked ?? settings.apiKey;
    return key === undefined ? {} : { 'x-goog-api-key': key };
  }

  return {
    ...createWirePort(
      {
        name,
        patience: PATIENCE,
        open: (request, asked, attempt) =>
          inForm(request.model, attempt, (form) => {
            const url = urlOf(request.model, 'streamGenerateContent?alt=sse');
            return postJson(url, { headers: headersFor(asked), body: toGemini(request, form), send }, attempt);
          }),
        readerFor: ({ tools }, newId) => createGeminiReader(newId, toolNames(tools)),
      },
      patience,
    ),
    async countTokens(request, signal) {
      try {
        const body = JSON.stringify(countBody(request));
        const headers = { 'content-type': 'application/json', ...headersFor() };
        const response = await send(urlOf(request.model, 'countTokens'), { method: 'POST', headers, body, signal });
        return numberOf(objectOf(parseJson(await response.text()))?.totalTokens);
      } catch {
        // A count is a convenience: whoever asked goes on with an estimate.
        return undefined;
      }
    },
  };
}

function countBody(request: ModelRequest): JsonObject {
  const { generationConfig: _limits, ...rest } = toGemini(request, USUAL_GEMINI_FORM);
  return { generateContentRequest: { model: `models/${request.model.replace(/^models\//, '')}`, ...rest } };
}
