import type { JsonObject, JsonValue } from '../../contracts/json.ts';
import { objectOf, parseJson } from '../wire/wire-json.ts';
import type { AskedServer } from './known-models.ts';
import { listedFacts } from './listed-facts.ts';
import { liteLlmFacts, ollamaFacts, propsFacts, studioFacts } from './local-facts.ts';
import type { ModelFacts } from './model-entry.ts';

type Asking = { readonly send: typeof fetch; readonly timeoutMs: number };

/** Which servers know more than the list of models says; whoever is none of these is asked everything. */
const KINDS: ReadonlyMap<string, Ask> = new Map([
  ['ollama', askOllama],
  ['llamacpp', askProps],
  ['lmstudio', askStudio],
  ['litellm', askLiteLlm],
]);

/** Asks a server what its model can do; `undefined` when nobody answers. What it does not say is left out. */
export async function askServer(
  { name, baseUrl, key }: AskedServer,
  model: string,
  { send, timeoutMs }: Asking,
): Promise<ModelFacts | undefined> {
  const secret = await key();
  const root = baseUrl.replace(/\/v\d+\/*$/, '');
  const signal = AbortSignal.timeout(timeoutMs);
  const headers = new Headers({
    'content-type': 'application/json',
    ...(secret !== undefined && { authorization: `Bearer ${secret}` }),
  });
  const request: Request = async (address, body) => {
    try {
      const answer = await send(address, {
        signal,
        headers,
        redirect: 'error',
        ...(body && { method: 'POST', body: JSON.stringify(body) }),
      });
      return answer.ok ? parseJson(await answer.text()) : undefined;
    } catch {
      // Nobody listens there, or it is another kind of server.
      return undefined;
    }
  };
  const own = KINDS.get(name);
  const asks = own === undefined ? (isLocal(baseUrl) ? [...KINDS.values()] : []) : [own];
  const [list, ...more] = await Promise.all([
    request(`${baseUrl}/models`),
    ...asks.map((ask) => ask(root, model, request)),
  ]);
  const said = [listedFacts(list, model), ...more].filter((facts) => facts !== undefined);
  if (list === undefined && said.length === 0) return undefined;
  return said.reduce(both, {});
}

function both(one: ModelFacts, other: ModelFacts): ModelFacts {
  return { ...one, ...other };
}

type Request = (address: string, body?: JsonObject) => Promise<JsonValue | undefined>;
type Ask = (root: string, model: string, request: Request) => Promise<ModelFacts | undefined>;

async function askOllama(root: string, model: string, request: Request): Promise<ModelFacts | undefined> {
  const [shown, running] = await Promise.all([request(`${root}/api/show`, { model }), request(`${root}/api/ps`)]);
  return ollamaFacts(objectOf(shown), objectOf(running), model);
}

async function askProps(root: string, _model: string, request: Request): Promise<ModelFacts | undefined> {
  return propsFacts(objectOf(await request(`${root}/props`)));
}

async function askStudio(root: string, model: string, request: Request): Promise<ModelFacts | undefined> {
  return studioFacts(objectOf(await request(`${root}/api/v0/models`)), model);
}

async function askLiteLlm(root: string, model: string, request: Request): Promise<ModelFacts | undefined> {
  return liteLlmFacts(objectOf(await request(`${root}/model/info`)), model);
}

/** Strangers in the network are not asked by ways that are none of theirs. */
function isLocal(baseUrl: string): boolean {
  const { hostname } = new URL(baseUrl);
  return /^(?:localhost|127\.|10\.|192\.168\.|172\.(?:1[6-9]|2\d|3[01])\.|\[::1\]|[\w-]+\.local$)/.test(hostname);
}
