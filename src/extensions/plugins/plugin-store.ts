import { join } from 'node:path';
import { z } from 'zod';
import { type JsonStore, openJsonStore } from '../../lib/files/json-store.ts';

const marketplaceSchema = z.lazy(() =>
  z.object({
    /** The address as the user wrote it, or a folder. */
    address: z.string(),
    folder: z.string(),
    /** File in the folder that lists the plugins. */
    file: z.string().optional(),
    commit: z.string().optional(),
  }),
);
const pluginSchema = z.lazy(() =>
  z.object({
    folder: z.string(),
    mark: z.string(),
    /** Fields of its marketplace entry. */
    said: z.record(z.string(), z.json()).optional(),
    version: z.string().optional(),
    commit: z.string().optional(),
  }),
);
const schema = z.lazy(() =>
  z.object({
    v: z.literal(1),
    marketplaces: z.record(z.string(), marketplaceSchema).default({}),
    plugins: z.record(z.string(), pluginSchema).default({}),
  }),
);

/** A marketplace the user added. */
export type KnownMarketplace = z.output<typeof marketplaceSchema>;
/** An installed plugin, with the hash of its files. */
export type InstalledPlugin = z.output<typeof pluginSchema>;
/** The store of marketplaces and plugins. */
export type PluginStore = JsonStore<z.output<typeof schema>>;

/** Opens the store of known marketplaces, and of installed plugins by `name@marketplace`. */
export function openPluginStore(ouroHome: string): PluginStore {
  return openJsonStore(join(ouroHome, 'plugins.json'), {
    empty: { v: 1, marketplaces: {}, plugins: {} },
    entryDepth: 2,
    parse: (json) => schema.safeParse(json),
  });
}

/** Returns the folder with the copies of plugins and marketplaces. */
export function getPluginsFolder(ouroHome: string): string {
  return join(ouroHome, 'plugins');
}

/** Returns the data folder of a plugin, which survives updates. */
export function getPluginDataFolder(ouroHome: string, id: string): string {
  return join(getPluginsFolder(ouroHome), 'data', id.replaceAll(/[^\w@.-]/g, '_'));
}
