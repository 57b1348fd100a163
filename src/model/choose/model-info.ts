import type { ModelInfo } from '../../contracts/model.ts';
import { isKnownModel, modelInfo, serverModelInfo } from '../catalog.ts';
import { cloudModelInfo } from '../cloud-info.ts';
import { NO_CLOUDS } from '../clouds/cloud-settings.ts';
import { askServer } from '../facts/ask-server.ts';
import { bundledPage } from '../facts/bundled.ts';
import { infoWith } from '../facts/info-with.ts';
import { createKnownModels, type ServedModel } from '../facts/known-models.ts';
import type { ModelFacts } from '../facts/model-entry.ts';
import { PRESETS } from '../presets.ts';
import { type ModelPlace, placeOf } from './model-name.ts';
import type { PortConfig } from './port-config.ts';

/** What is known of every model that can be named. */
export type InfoOfModels = {
  /** What is known so far; cautious values where that is nothing. */
  readonly infoOf: (model: string) => ModelInfo;
  /** Looks into the catalogue that came with the program, or a newer one. Contacts nobody. */
  readonly lookUp: (model: string) => Promise<void>;
  /** The same, and asks the server of a model nobody has heard of. Answers with a sentence where it said nothing either. */
  readonly learn: (model: string) => Promise<string | undefined>;
  /** A server has said this of its model, in a list of all. */
  readonly note: (model: string, said: ModelFacts) => void;
  /** What the catalogue has of a provider. */
  readonly namesIn: (catalogue: string | undefined) => Promise<readonly string[]>;
  /** The provider does not leave out old results by itself. */
  readonly onRefusedEditing: () => void;
};

/** Somebody waits for the first answer meanwhile. */
const SERVER_TIMEOUT_MS = 2000;

/** Without a configuration: what is known of places with a name. */
export function createModelInfo(config: Omit<PortConfig, 'model'> = {}): InfoOfModels {
  const { models = {}, fetch: send = fetch, pageOf = bundledPage, clouds = NO_CLOUDS } = config;
  const locate = (model: string) => placeOf(config, model);
  const known = createKnownModels({
    pageOf,
    askServer: (server, model) => askServer(server, model, { send, timeoutMs: SERVER_TIMEOUT_MS }),
  });
  const told = new Set<string>();
  let editing: Editing = 'by the provider';

  function infoOf(model: string): ModelInfo {
    const place = locate(model);
    const own = models[model] ?? models[place.model] ?? {};
    if (place.provider === 'openai')
      return ofServer(model, place, { ...known.factsOf(servedOf(place)), ...ownOf(place) }, own);
    const isCloud = place.provider === 'cloud';
    const { clearsResultsAt, ...ours } = isCloud
      ? cloudModelInfo(place.cloud, place.model, clouds)
      : modelInfo(place.model);
    const found = isCloud || isKnownModel(place.model) ? undefined : known.factsOf(servedOf(place));
    const info = infoWith(ours, { ...found, ...own }, 'reasoning_effort');
    return clearsResultsAt === undefined || editing === 'by us' ? info : { ...info, clearsResultsAt };
  }

  const isUntold = (model: string) => {
    const place = locate(model);
    if (place.provider !== 'openai') return false;
    const facts = { ...known.factsOf(servedOf(place)), ...ownOf(place), ...models[model] };
    return facts.contextWindow === undefined;
  };

  return {
    infoOf,
    lookUp: (model) => known.lookUp(servedOf(locate(model))),
    async learn(model) {
      await known.learn(servedOf(locate(model)));
      if (!isUntold(model) || told.has(model)) return undefined;
      told.add(model);
      const { contextWindow, maxOutputTokens } = infoOf(model);
      return `Nobody says what ${model} can do, so a window of ${contextWindow} tokens and answers of ${maxOutputTokens} are assumed. Your settings can say it: "models": { "${model}": { "contextWindow": ${contextWindow} } }.`;
    },
    note: (model, said) => known.note(servedOf(locate(model)), said),
    async namesIn(catalogue) {
      const page = catalogue === undefined ? undefined : await known.page(catalogue);
      return page?.models.map(({ id }) => id) ?? [];
    },
    onRefusedEditing() {
      editing = 'by us';
    },
  };
}

/** As catalogues and servers are asked about it. What a key is sent for is sent to its own server alone. */
function servedOf(place: ModelPlace): ServedModel {
  if (place.provider === 'demo' || place.provider === 'cloud')
    return { model: place.model, catalogue: undefined, server: undefined };
  if (place.provider === 'anthropic') return { model: place.model, catalogue: 'anthropic', server: undefined };
  const { name, server, model } = place;
  const preset = PRESETS.get(name);
  return {
    model,
    catalogue: name === 'azure' ? 'openai' : preset && (preset.catalogue ?? name),
    server: { name, baseUrl: server.baseUrl, key: async () => server.apiKey ?? server.fetchKey?.() },
  };
}

type ServerPlace = Extract<ModelPlace, { readonly provider: 'openai' }>;

function ofServer(
  model: string,
  { name, server, model: id }: ServerPlace,
  found: ModelFacts,
  own: ModelFacts,
): ModelInfo {
  const preset = PRESETS.get(name);
  const { price, ...rest } = found;
  // Another address under a known name has prices of its own.
  const isItself = preset === undefined || preset.baseUrl === server.baseUrl;
  return infoWith(
    { ...serverModelInfo(id, preset), id: model, label: model },
    { ...rest, ...(price && isItself && { price }), ...own },
    preset?.reasoning,
  );
}

/** What the settings say of all models of a server. */
function ownOf({ server: { contextWindow, maxOutputTokens, vision } }: ServerPlace): ModelFacts {
  return {
    ...(contextWindow !== undefined && { contextWindow }),
    ...(maxOutputTokens !== undefined && { maxOutputTokens }),
    ...(vision !== undefined && { vision }),
  };
}

/** Who leaves old results out of a request. */
type Editing = 'by the provider' | 'by us';
