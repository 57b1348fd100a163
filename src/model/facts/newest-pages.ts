import { join } from 'node:path';
import { z } from 'zod';
import { readRegular } from '../../lib/files/read-regular.ts';
import { parseJson } from '../wire/wire-json.ts';
import { bundledPage, type CataloguePage } from './bundled.ts';
import { modelEntry } from './model-entry.ts';

/** A page as it is kept: that of one provider. */
const keptPage = z.object({ v: z.literal(1), asOf: z.iso.date(), models: z.array(modelEntry) });

/** Where `ouro models update` keeps what it read. */
export function catalogueFolder(ouroHome: string): string {
  return join(ouroHome, 'models');
}

/** The page of a provider: what was read last, and of older models what came with the program; a damaged file is none. */
export function newestPages(folder: string): (catalogue: string) => Promise<CataloguePage | undefined> {
  return async (catalogue) => {
    const [bundled, kept] = await Promise.all([bundledPage(catalogue), readKept(folder, catalogue)]);
    if (bundled === undefined || kept === undefined) return kept ?? bundled;
    const [newer, older] = kept.asOf >= bundled.asOf ? [kept, bundled] : [bundled, kept];
    const names = new Set(newer.models.map(({ id }) => id));
    return { asOf: newer.asOf, models: [...newer.models, ...older.models.filter(({ id }) => !names.has(id))] };
  };
}

async function readKept(folder: string, catalogue: string): Promise<CataloguePage | undefined> {
  const text = await readRegular(join(folder, `${catalogue}.json`)).catch(() => undefined);
  const read = keptPage.safeParse(text === undefined ? undefined : parseJson(text));
  return read.success ? read.data : undefined;
}
