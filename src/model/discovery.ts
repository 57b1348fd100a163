import { objectOf, objectsOf, parseJson, textOf } from './wire-json.ts';

/** A model server that answered on this machine, with the models it offers. */
export type LocalServer = {
  readonly name: string;
  /** What its models are called by: `ollama` in `ollama/qwen3`. */
  readonly prefix: string;
  readonly baseUrl: string;
  readonly models: readonly string[];
};

/** Where to look, and how long. Everything has a default; nothing but loopback is ever asked. */
export type DiscoveryOptions = {
  readonly fetch?: typeof fetch;
  readonly timeoutMs?: number;
  readonly places?: readonly Place[];
};

type Place = { readonly name: string; readonly prefix: string; readonly port: number };

const USUAL_PLACES: readonly Place[] = [
  { name: 'Ollama', prefix: 'ollama', port: 11_434 },
  { name: 'LM Studio', prefix: 'lmstudio', port: 1234 },
  { name: 'llama.cpp', prefix: 'llamacpp', port: 8080 },
  { name: 'vLLM', prefix: 'vllm', port: 8000 },
];

/** Looks for OpenAI-compatible servers on their usual loopback ports, all at once. */
export async function discoverLocalServers(options: DiscoveryOptions = {}): Promise<readonly LocalServer[]> {
  const { places = USUAL_PLACES, timeoutMs = 400, fetch: send = fetch } = options;
  const found = await Promise.all(places.map((place) => look(place, { send, timeoutMs })));
  return found.filter((server) => server !== undefined);
}

async function look(
  { name, prefix, port }: Place,
  { send, timeoutMs }: { readonly send: typeof fetch; readonly timeoutMs: number },
): Promise<LocalServer | undefined> {
  const baseUrl = `http://127.0.0.1:${port}/v1`;
  try {
    const response = await send(`${baseUrl}/models`, { signal: AbortSignal.timeout(timeoutMs), redirect: 'error' });
    const listed = objectOf(parseJson(await response.text()));
    if (!response.ok || !listed || !Array.isArray(listed.data)) return undefined;
    const models = objectsOf(listed.data)
      .map(({ id }) => textOf(id))
      .filter((id) => id !== undefined);
    return { name, prefix, baseUrl, models };
  } catch {
    // Nobody listens there, or something that is no model server.
    return undefined;
  }
}
