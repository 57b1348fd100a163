import { join } from 'node:path';
import { z } from 'zod';
import { type JsonStore, openJsonStore } from '../../lib/files/json-store.ts';

const known = z.object({
  /** As it was written: a folder, or an address. */
  address: z.string(),
  folder: z.string(),
  /** The file in it that lists the plugins. */
  file: z.string().optional(),
  commit: z.string().optional(),
});
const installed = z.object({
  folder: z.string(),
  mark: z.string(),
  /** What its marketplace said of it. */
  said: z.record(z.string(), z.json()).optional(),
  version: z.string().optional(),
  commit: z.string().optional(),
});
const schema = z.object({
  v: z.literal(1),
  marketplaces: z.record(z.string(), known).default({}),
  plugins: z.record(z.string(), installed).default({}),
});

export type KnownMarketplace = z.output<typeof known>;
export type InstalledPlugin = z.output<typeof installed>;
export type PluginStore = JsonStore<z.output<typeof schema>>;

/** Which marketplaces are known and which plugins are installed, by `name@marketplace`. */
export function openPluginStore(ouroHome: string): PluginStore {
  return openJsonStore(join(ouroHome, 'plugins.json'), {
    empty: { v: 1, marketplaces: {}, plugins: {} },
    entryDepth: 2,
    parse: (json) => schema.safeParse(json),
  });
}

/** Where copies of plugins and marketplaces lie. */
export function pluginHome(ouroHome: string): string {
  return join(ouroHome, 'plugins');
}

/** What a plugin keeps from one version to the next. */
export function pluginData(ouroHome: string, id: string): string {
  return join(pluginHome(ouroHome), 'data', id.replaceAll(/[^\w@.-]/g, '_'));
}
