import type { JsonObject, JsonValue } from '../../contracts/json.ts';
import type { ModelPrice } from '../../contracts/model.ts';
import { numberOf, objectOf, objectsOf, textOf } from '../wire/wire-json.ts';
import type { ModelFacts } from './model-entry.ts';

/** What the list of models (`/models`) says of one: each server has its own words for the same things. */
export function listedFacts(list: JsonValue | undefined, model: string): ModelFacts | undefined {
  const listed = objectsOf(objectOf(list)?.data ?? list);
  const wanted = listed.find(({ id }) => textOf(id) === model);
  return wanted && factsOfListed(wanted);
}

/** What one entry of such a list says. */
export function factsOfListed(entry: JsonObject): ModelFacts {
  const best = objectOf(entry.top_provider);
  const can = objectOf(entry.capabilities);
  const contextWindow =
    positive(best?.context_length) ??
    positive(entry.context_length) ??
    positive(entry.max_model_len) ??
    positive(entry.context_window) ??
    positive(entry.max_context_length) ??
    positive(objectOf(entry.meta)?.n_ctx);
  const maxOutputTokens = positive(best?.max_completion_tokens) ?? positive(entry.max_completion_tokens);
  const inputs = objectOf(entry.architecture)?.input_modalities;
  const supported = entry.supported_parameters;
  const vision = Array.isArray(inputs) ? inputs.includes('image') : flag(can?.vision);
  const takesTools = Array.isArray(supported) ? supported.includes('tools') : flag(can?.function_calling);
  const label = textOf(entry.name);
  const price = priceOf(objectOf(entry.pricing));
  return {
    ...(label !== undefined && { label }),
    ...(contextWindow !== undefined && { contextWindow }),
    ...(maxOutputTokens !== undefined && { maxOutputTokens }),
    ...(vision !== undefined && { vision }),
    ...(takesTools !== undefined && { takesTools }),
    ...(Array.isArray(supported) && !supported.includes('reasoning') && { thinking: 'none' as const }),
    ...(price && { price }),
  };
}

/** Dollars for a token, written as text: OpenRouter's way. Other ways to write a price are not guessed at. */
function priceOf(pricing: JsonObject | undefined): ModelPrice | undefined {
  const [input, output] = [perMillion(pricing?.prompt), perMillion(pricing?.completion)];
  if (pricing === undefined || input === undefined || output === undefined) return undefined;
  return {
    input,
    output,
    cacheRead: perMillion(pricing.input_cache_read) ?? input,
    cacheWrite: perMillion(pricing.input_cache_write) ?? input,
    asOf: new Date().toISOString().slice(0, 10),
  };
}

function perMillion(rate: JsonValue | undefined): number | undefined {
  const text = textOf(rate);
  const dollars = text === undefined || text.trim() === '' ? Number.NaN : Number(text);
  // Less than nothing is said of models whose price depends on who serves them.
  return Number.isFinite(dollars) && dollars >= 0 ? Number((dollars * 1_000_000).toPrecision(12)) : undefined;
}

/** A number of tokens that can be meant. */
export function positive(value: JsonValue | undefined): number | undefined {
  const number = numberOf(value);
  return number !== undefined && number > 0 ? Math.floor(number) : undefined;
}

/** A yes or a no. */
export function flag(value: JsonValue | undefined): boolean | undefined {
  return typeof value === 'boolean' ? value : undefined;
}
