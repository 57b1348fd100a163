import type { JsonObject, JsonValue } from '../../contracts/json.ts';
import { numberOf, objectOf, objectsOf, textOf } from '../wire/wire-json.ts';
import { flag, positive } from './listed-facts.ts';
import type { ModelFacts } from './model-entry.ts';

/** Ollama forgets the beginning of what is longer than its setting, which is smaller than the model's window. */
const OLLAMA_UNTOLD = 32_000;

/** Ollama: what it is set to for this model, what it runs with, else no more than is usually set. */
export function ollamaFacts(
  shown: JsonObject | undefined,
  running: JsonObject | undefined,
  model: string,
): ModelFacts | undefined {
  const about = objectOf(shown?.model_info);
  if (shown === undefined || about === undefined) return undefined;
  const trained = Object.entries(about).find(([name]) => name.endsWith('.context_length'))?.[1];
  const most = positive(trained) ?? OLLAMA_UNTOLD;
  const isRunning = ({ name, model: id }: JsonObject) => [name, id].some((one) => sameModel(textOf(one), model));
  const loaded = objectsOf(running?.models).find(isRunning);
  const set = /^num_ctx\s+(\d+)/m.exec(textOf(shown.parameters) ?? '')?.[1];
  const window = positive(loaded?.context_length) ?? (set === undefined ? undefined : Number(set)) ?? OLLAMA_UNTOLD;
  const can = Array.isArray(shown.capabilities) ? shown.capabilities : undefined;
  return {
    contextWindow: Math.min(window, most),
    ...(can && { vision: can.includes('vision'), takesTools: can.includes('tools') }),
  };
}

function sameModel(name: string | undefined, model: string): boolean {
  return name === model || name === `${model}:latest`;
}

/** llama.cpp: the window it was started with. */
export function propsFacts(props: JsonObject | undefined): ModelFacts | undefined {
  const contextWindow = positive(objectOf(props?.default_generation_settings)?.n_ctx) ?? positive(props?.n_ctx);
  if (contextWindow === undefined) return undefined;
  const vision = flag(objectOf(props?.modalities)?.vision);
  return { contextWindow, ...(vision !== undefined && { vision }) };
}

/** LM Studio: the window a model was loaded with, else its own. */
export function studioFacts(list: JsonObject | undefined, model: string): ModelFacts | undefined {
  const entry = objectsOf(list?.data).find(({ id }) => textOf(id) === model);
  const contextWindow = positive(entry?.loaded_context_length) ?? positive(entry?.max_context_length);
  if (entry === undefined || contextWindow === undefined) return undefined;
  const can = Array.isArray(entry.capabilities) ? entry.capabilities : undefined;
  return {
    contextWindow,
    vision: entry.type === 'vlm',
    ...(can && { takesTools: can.includes('tool_use') }),
  };
}

/** LiteLLM: what its own table says, prices included. */
export function liteLlmFacts(list: JsonObject | undefined, model: string): ModelFacts | undefined {
  const entry = objectsOf(list?.data).find(({ model_name }) => textOf(model_name) === model);
  const about = objectOf(entry?.model_info);
  if (about === undefined) return undefined;
  const contextWindow = positive(about.max_input_tokens) ?? positive(about.max_tokens);
  const maxOutputTokens = positive(about.max_output_tokens);
  const vision = flag(about.supports_vision);
  const takesTools = flag(about.supports_function_calling);
  const [input, output] = [perMillion(about.input_cost_per_token), perMillion(about.output_cost_per_token)];
  const cacheRead = perMillion(about.cache_read_input_token_cost) ?? input;
  const cacheWrite = perMillion(about.cache_creation_input_token_cost) ?? input;
  return {
    ...(contextWindow !== undefined && { contextWindow }),
    ...(maxOutputTokens !== undefined && { maxOutputTokens }),
    ...(vision !== undefined && { vision }),
    ...(takesTools !== undefined && { takesTools }),
    ...(input !== undefined && output !== undefined && cacheRead !== undefined && cacheWrite !== undefined
      ? { price: { input, output, cacheRead, cacheWrite, asOf: new Date().toISOString().slice(0, 10) } }
      : {}),
  };
}

function perMillion(dollars: JsonValue | undefined): number | undefined {
  const number = numberOf(dollars);
  return number === undefined ? undefined : Number((number * 1_000_000).toPrecision(12));
}
