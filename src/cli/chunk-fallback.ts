import { closeSync, openSync, readFileSync } from 'node:fs';
import { basename, join } from 'node:path';

type PluginBuilder = {
  onResolve(options: { readonly filter: RegExp }, resolve: (args: { readonly path: string }) => { path: string }): void;
  onLoad(
    options: { readonly filter: RegExp },
    load: (args: { readonly path: string }) => { contents: string; loader: 'js' },
  ): void;
};

type Plugin = { readonly name: string; setup(build: PluginBuilder): void };
type BunRuntime = { plugin(plugin: Plugin): void; gunzipSync(bytes: Uint8Array): Uint8Array };

/** Copy of all chunks of the build in one file, which stays readable through an open descriptor. */
const ARCHIVE = 'parts.json.gz';
const STARTUP_MS = 1_000;

/**
 * Installs a loader that reads chunks from the archive when their files are gone: an update may delete them while the
 * program runs. Does nothing when ouro runs from sources or as a single executable.
 */
export function installChunkFallback(): void {
  const folder = import.meta.dirname;
  const archiveFd = openIfExists(join(folder, ARCHIVE));
  const runtime: unknown = Reflect.get(globalThis, 'Bun');
  if (archiveFd === undefined || !isBunRuntime(runtime)) return;
  // The plugin slows every import down a little, so the imports of the startup go without it.
  setTimeout(() => runtime.plugin(createFallbackPlugin(folder, archiveFd, runtime)), STARTUP_MS).unref();
}

function createFallbackPlugin(folder: string, archiveFd: number, { gunzipSync }: BunRuntime): Plugin {
  let chunks: ReadonlyMap<string, unknown> | undefined;
  const readFromArchive = (name: string) => {
    chunks ??= readArchive(archiveFd, gunzipSync);
    return String(chunks.get(name));
  };
  return {
    name: 'chunk-fallback',
    setup(build) {
      build.onResolve({ filter: /^\.\/chunk-\w+\.js$/ }, ({ path }) => ({ path: join(folder, path) }));
      build.onLoad({ filter: /[\\/]dist[\\/]chunk-\w+\.js$/ }, ({ path }) => ({
        contents: readTextIfExists(path) ?? readFromArchive(basename(path)),
        loader: 'js',
      }));
    },
  };
}

function isBunRuntime(value: unknown): value is BunRuntime {
  return typeof value === 'object' && value !== null && 'plugin' in value;
}

function openIfExists(file: string): number | undefined {
  try {
    return openSync(file, 'r');
  } catch {
    return undefined;
  }
}

/** Decompresses with the runtime's function: loading `node:zlib` takes as long as loading a fifth of the program. */
function readArchive(archiveFd: number, gunzip: BunRuntime['gunzipSync']): ReadonlyMap<string, unknown> {
  const chunks: unknown = JSON.parse(Buffer.from(gunzip(readFileSync(archiveFd))).toString());
  closeSync(archiveFd);
  return new Map(Object.entries(chunks ?? {}));
}

function readTextIfExists(path: string): string | undefined {
  try {
    return readFileSync(path, 'utf8');
  } catch {
    return undefined;
  }
}
