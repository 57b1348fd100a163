import type { CataloguePage } from './bundled.ts';
import { factsOf, type ModelFacts } from './model-entry.ts';

/** A model and who serves it, as a catalogue and that server are asked about it. */
export type ServedModel = {
  readonly model: string;
  /** What models.dev calls who serves it. */
  readonly catalogue: string | undefined;
  /** Who can be asked, where there is a server for everybody. */
  readonly server: AskedServer | undefined;
};

/** A server that may say what its models can do. */
export type AskedServer = {
  readonly name: string;
  readonly baseUrl: string;
  readonly key: () => Promise<string | undefined>;
};

/** What is known of models beyond our own table: nothing, until it was asked for. */
export type KnownModels = {
  /** All that the catalogue has of a provider. */
  page(catalogue: string): Promise<CataloguePage | undefined>;
  /** Looks into the catalogue. Contacts nobody. */
  lookUp(served: ServedModel): Promise<void>;
  /** Looks into the catalogue, and asks the server where that does not know the window. Never fails. */
  learn(served: ServedModel): Promise<void>;
  /** A server has said this of it in passing: it knows better than the catalogue. */
  note(served: ServedModel, said: ModelFacts): void;
  factsOf(served: ServedModel): ModelFacts | undefined;
};

type Sources = {
  /** The models of a provider: as they came with the program, or newer. */
  readonly pageOf: (catalogue: string) => Promise<CataloguePage | undefined>;
  readonly askServer: (server: AskedServer, model: string) => Promise<ModelFacts | undefined>;
};

export function createKnownModels({ pageOf, askServer }: Sources): KnownModels {
  const facts = new Map<string, ModelFacts>();
  const lookedUp = new Map<string, Promise<void>>();
  const asked = new Map<string, Promise<void>>();
  const pages = new Map<string, Promise<CataloguePage | undefined>>();

  function pageNamed(catalogue: string): Promise<CataloguePage | undefined> {
    const page = pages.get(catalogue) ?? pageOf(catalogue).catch(() => undefined);
    pages.set(catalogue, page);
    return page;
  }

  async function readPage({ model, catalogue }: ServedModel, id: string): Promise<void> {
    const page = catalogue === undefined ? undefined : await pageNamed(catalogue);
    const entry = page && entryNamed(page, model);
    if (page && entry) facts.set(id, { ...factsOf(entry, page.asOf), ...facts.get(id) });
  }

  async function ask({ model, server }: ServedModel, id: string): Promise<void> {
    if (server === undefined || facts.get(id)?.contextWindow !== undefined) return;
    const said = await askServer(server, model).catch(() => undefined);
    if (said === undefined) asked.delete(id);
    else facts.set(id, { ...facts.get(id), ...said });
  }

  function lookUp(served: ServedModel): Promise<void> {
    const id = idOf(served);
    return keptOr(lookedUp, id, () => readPage(served, id));
  }

  return {
    page: pageNamed,
    lookUp,
    async learn(served) {
      await lookUp(served);
      const id = idOf(served);
      await keptOr(asked, id, () => ask(served, id));
    },
    note(served, said) {
      const id = idOf(served);
      facts.set(id, { ...facts.get(id), ...said });
    },
    factsOf: (served) => facts.get(idOf(served)),
  };
}

function keptOr(kept: Map<string, Promise<void>>, id: string, begin: () => Promise<void>): Promise<void> {
  const begun = kept.get(id) ?? begin();
  kept.set(id, begun);
  return begun;
}

function idOf({ model, catalogue = '', server }: ServedModel): string {
  return JSON.stringify([catalogue, server?.baseUrl ?? '', model]);
}

/**
 * A name that ends in a date or a choice of the server means the model it belongs to.
 * @internal Exported for tests.
 */
export function entryNamed({ models }: CataloguePage, name: string): CataloguePage['models'][number] | undefined {
  const wanted = name.toLowerCase().replace(/^models\//, '');
  const undated = wanted.replace(/:[a-z]+$/, '').replace(/-(?:\d{8}|\d{4}-\d\d-\d\d)$/, '');
  return models.find(({ id }) => id.toLowerCase() === wanted) ?? models.find(({ id }) => id.toLowerCase() === undated);
}
