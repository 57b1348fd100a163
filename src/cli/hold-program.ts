import { closeSync, openSync, readFileSync } from 'node:fs';
import { basename, join } from 'node:path';
import { gunzipSync } from 'node:zlib';

type Loading = {
  onResolve(where: { readonly filter: RegExp }, resolve: (asked: { readonly path: string }) => { path: string }): void;
  onLoad(
    where: { readonly filter: RegExp },
    load: (asked: { readonly path: string }) => { contents: string; loader: 'js' },
  ): void;
};

type Plugin = { readonly name: string; setup(build: Loading): void };
type Runtime = { plugin(plugin: Plugin): void };

/** Every part of the program once more, in one file that can be held open. */
const PARTS = 'parts.json.gz';
const START_MS = 1_000;

/**
 * Keeps what of the program has not been loaded yet: an update may take its files away while it runs. Sources and the
 * executable need nothing of the kind.
 */
export function holdProgram(): void {
  const folder = import.meta.dirname;
  const held = openParts(join(folder, PARTS));
  const runtime: unknown = Reflect.get(globalThis, 'Bun');
  if (held === undefined || !isRuntime(runtime)) return;
  // What the start itself loads need not come through here, which costs each part a little.
  setTimeout(() => runtime.plugin(heldParts(folder, held)), START_MS).unref();
}

/** Answers for a part that is not in the folder any more. */
function heldParts(folder: string, held: number): Plugin {
  let parts: ReadonlyMap<string, unknown> | undefined;
  const heldPart = (name: string) => {
    parts ??= readParts(held);
    return String(parts.get(name));
  };
  return {
    name: 'held-program',
    setup(build) {
      build.onResolve({ filter: /^\.\/chunk-\w+\.js$/ }, ({ path }) => ({ path: join(folder, path) }));
      build.onLoad({ filter: /[\\/]dist[\\/]chunk-\w+\.js$/ }, ({ path }) => ({
        contents: textOf(path) ?? heldPart(basename(path)),
        loader: 'js',
      }));
    },
  };
}

function isRuntime(value: unknown): value is Runtime {
  return typeof value === 'object' && value !== null && 'plugin' in value;
}

function openParts(file: string): number | undefined {
  try {
    return openSync(file, 'r');
  } catch {
    return undefined;
  }
}

function readParts(held: number): ReadonlyMap<string, unknown> {
  const parts: unknown = JSON.parse(gunzipSync(readFileSync(held)).toString());
  closeSync(held);
  return new Map(Object.entries(parts ?? {}));
}

function textOf(path: string): string | undefined {
  try {
    return readFileSync(path, 'utf8');
  } catch {
    return undefined;
  }
}
