import type { CataloguePage } from './catalogue-store.ts';
import { extractModelFacts, type ModelFacts } from './model-facts.ts';
import { isPrivateUrl, type ModelServer, type ServerModelReport } from './server-model-facts.ts';

/** A model with the catalogue provider and the server that can describe it. */
export type ServedModel = {
  readonly model: string;
  /** Provider id at models.dev. */
  readonly catalogueId: string | undefined;
  /** The server to ask; absent for Anthropic itself, clouds and the demo. */
  readonly server: ModelServer | undefined;
  /** The server may serve models of any provider, so a model is looked up in the whole catalogue. */
  readonly isGateway: boolean;
};

type Sources = {
  /** Loads the newest catalogue page of a provider. */
  readonly loadPage: (catalogue: string) => Promise<CataloguePage | undefined>;
  /** Loads what the pages of other providers say about a model of this name. */
  readonly searchPages: (model: string) => Promise<ModelFacts | undefined>;
  readonly askServer: (server: ModelServer, model: string) => Promise<ServerModelReport | undefined>;
  /** Called when more is known about a model. */
  readonly onChange: () => void;
};

/** Creates the cache of facts about models that are not built in, filled on demand from a catalogue and from servers. */
export function createModelFactsCache({ loadPage, searchPages, askServer, onChange }: Sources) {
  const facts = new Map<string, ModelFacts>();
  /** Facts about models of the same name elsewhere: what the server says counts more, its silence counts less. */
  const assumedFacts = new Map<string, ModelFacts>();
  const listed = new Map<string, readonly string[]>();
  const catalogueLoads = new Map<string, Promise<void>>();
  const serverLoads = new Map<string, Promise<void>>();
  const pages = new Map<string, Promise<CataloguePage | undefined>>();

  function setFacts(key: string, known: ModelFacts): void {
    facts.set(key, known);
    onChange();
  }

  /** Returns all catalogue entries of a provider. */
  function getPage(catalogue: string): Promise<CataloguePage | undefined> {
    const page = pages.get(catalogue) ?? loadPage(catalogue).catch(() => undefined);
    pages.set(catalogue, page);
    return page;
  }

  async function readCatalogueFacts(
    { model, catalogueId, isGateway, server }: ServedModel,
    key: string,
  ): Promise<void> {
    const page = catalogueId === undefined ? undefined : await getPage(catalogueId);
    const entry = page && findCatalogueEntry(page, model);
    if (page && entry) setFacts(key, { ...extractModelFacts(entry, page.asOf), ...facts.get(key) });
    const assumed = isGateway && entry === undefined ? await searchPages(model).catch(() => undefined) : undefined;
    if (assumed === undefined) return;
    const { price: _, ...unpriced } = assumed;
    // A model on a machine of one's own has no list price.
    assumedFacts.set(key, server !== undefined && isPrivateUrl(server.baseUrl) ? unpriced : assumed);
    onChange();
  }

  async function readServerFacts({ model, server }: ServedModel, key: string): Promise<void> {
    if (server === undefined || facts.get(key)?.contextWindow !== undefined) return;
    const report = await askServer(server, model).catch(() => undefined);
    if (report === undefined) {
      serverLoads.delete(key);
      return;
    }
    setFacts(key, { ...facts.get(key), ...report.facts });
    listed.set(server.baseUrl, report.listed);
  }

  /** Loads facts from the catalogue, without network access. */
  function loadCatalogueFacts(served: ServedModel): Promise<void> {
    const key = formatFactsKey(served);
    return memoizePromise(catalogueLoads, key, () => readCatalogueFacts(served, key));
  }

  return {
    getPage: getPage,
    loadCatalogueFacts,
    /** Loads facts from the catalogue, and from the server if the context window is still unknown. Never rejects. */
    async loadFacts(served: ServedModel) {
      await loadCatalogueFacts(served);
      const key = formatFactsKey(served);
      await memoizePromise(serverLoads, key, () => readServerFacts(served, key));
    },
    /** Adds facts that a server reported in its model list; they override the catalogue. */
    addFacts(served: ServedModel, reported: ModelFacts) {
      const key = formatFactsKey(served);
      setFacts(key, { ...facts.get(key), ...reported });
    },
    /** Returns the facts known so far. */
    getFacts(served: ServedModel): ModelFacts | undefined {
      const key = formatFactsKey(served);
      const [assumed, known] = [assumedFacts.get(key), facts.get(key)];
      return assumed === undefined ? known : { ...assumed, ...known };
    },
    /** Returns the names in the model list of the server; `undefined` if it was not asked or did not answer. */
    getListedModels: ({ server }: ServedModel): readonly string[] | undefined =>
      server === undefined ? undefined : listed.get(server.baseUrl),
  };
}

/** Returns whether a list of models has this one. Lists may have patterns, and leave out tags and variants. */
export function isListed(listed: readonly string[], model: string): boolean {
  const untagged = model.replace(/^models\//, '').replace(/:[\w.-]+$/, '');
  return listed.some((entry) => {
    const id = entry.replace(/^models\//, '');
    const [prefix = '', ...rest] = id.split('*');
    if (rest.length > 0) return model.startsWith(prefix);
    return id === model || id === untagged || id === `${model}:latest` || id === model.replace(/^models\//, '');
  });
}

function memoizePromise(promises: Map<string, Promise<void>>, key: string, start: () => Promise<void>): Promise<void> {
  const promise = promises.get(key) ?? start();
  promises.set(key, promise);
  return promise;
}

function formatFactsKey({ model, catalogueId = '', server }: ServedModel): string {
  return JSON.stringify([catalogueId, server?.baseUrl ?? '', model]);
}

/**
 * Finds the catalogue entry of a model name; a date suffix or a variant such as `:free` is ignored if needed. @internal
 */
export function findCatalogueEntry(
  { models }: CataloguePage,
  name: string,
): CataloguePage['models'][number] | undefined {
  const fullId = name.toLowerCase().replace(/^models\//, '');
  const undated = stripVariant(fullId);
  return models.find(({ id }) => id.toLowerCase() === fullId) ?? models.find(({ id }) => id.toLowerCase() === undated);
}

/** Removes a variant and a date from a lower-case model name. */
function stripVariant(name: string): string {
  return name.replace(/:[a-z]+$/, '').replace(/[-@](?:\d{8}|\d{4}-\d\d-\d\d)$/, '');
}

/** Finds the entry of a model by the name that a gateway gives it: `anthropic/claude-sonnet-4.5`, `zai-org/GLM-4.6`. */
export function findModelByGatewayName(
  { models }: CataloguePage,
  name: string,
): CataloguePage['models'][number] | undefined {
  const wanted = normalizeName(name);
  return models.find(({ id }) => normalizeName(id) === wanted);
}

/** Reduces a name to what providers and gateways agree on: no vendor, no variant, no date, no dots. */
function normalizeName(name: string): string {
  const id =
    name
      .toLowerCase()
      .replace(/\[1m\]$/, '')
      .split('/')
      .at(-1) ?? '';
  return stripVariant(id).replaceAll(/[._]/g, '-');
}
