import { watch } from 'node:fs';
import { basename, dirname, resolve } from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';
import type { CompleteRequest } from '@modelcontextprotocol/sdk/types.js';
import type { Conversation } from '../../contracts/face/conversation.ts';
import type { Offer } from './offer.ts';

const PAGE = 200;
const MOST_BYTES = 5 * 1024 * 1024;
const MOST_FILES = 100_000;
const MOST_FOUND = 100;
/** A file is often written in several steps; they are told as one. */
const SETTLE_MS = 100;

type Served = NonNullable<Offer['resources']> & {
  readonly complete: (params: CompleteRequest['params']) => Promise<readonly string[]>;
};

/** The files of the folder, as far as the Read tool could read them unasked. */
export function servedFiles({ findFiles, control, info }: Conversation): Served {
  const { folder } = info();
  const template = `${pathToFileURL(folder).href}/{+path}`;
  const read = async (path: string) =>
    (await control?.readFile?.(path, MOST_BYTES)) ?? { ok: false as const, why: 'Files are not served here.' };
  return {
    async list(from) {
      const paths = (await findFiles('', MOST_FILES)).filter((path) => !path.endsWith('/'));
      const resources = paths.slice(from, from + PAGE).map((path) => ({ uri: uriOf(folder, path), name: path }));
      return { resources, ...(paths.length > from + PAGE ? { next: from + PAGE } : {}) };
    },
    templates: () => [
      { uriTemplate: template, name: 'A file', description: `A file in ${folder}, by its path in there.` },
    ],
    async read(uri) {
      const path = pathOf(uri);
      if (path === undefined) return `${uri} is no file.`;
      const file = await read(path);
      if (!file.ok) return file.why;
      if (file.truncated) return `${uri} is larger than ${MOST_BYTES} bytes.`;
      const text = textOf(file.bytes);
      const blob = { uri, mimeType: 'application/octet-stream', blob: Buffer.from(file.bytes).toString('base64') };
      return { contents: [text === undefined ? blob : { uri, mimeType: 'text/plain', text }] };
    },
    watch: (uri, changed) => watchFile(pathOf(uri), changed),
    complete: async ({ ref, argument }) =>
      ref.type === 'ref/resource' && ref.uri === template ? findFiles(argument.value, MOST_FOUND) : [],
  };
}

function uriOf(folder: string, path: string): string {
  return pathToFileURL(resolve(folder, path)).href;
}

function pathOf(uri: string): string | undefined {
  try {
    return fileURLToPath(uri);
  } catch {
    return undefined;
  }
}

function textOf(bytes: Uint8Array): string | undefined {
  try {
    const text = new TextDecoder('utf-8', { fatal: true }).decode(bytes);
    return text.includes('\0') ? undefined : text;
  } catch {
    return undefined;
  }
}

/** Its folder is watched: editors put another file in its place. */
function watchFile(path: string | undefined, changed: () => void): () => void {
  if (path === undefined) return () => undefined;
  let timer: ReturnType<typeof setTimeout> | undefined;
  try {
    const watcher = watch(dirname(path), { persistent: false }, (_, name) => {
      if (name !== null && name !== basename(path)) return;
      clearTimeout(timer);
      timer = setTimeout(changed, SETTLE_MS);
    });
    // A folder that is taken away has told its last.
    watcher.on('error', () => watcher.close());
    return () => {
      clearTimeout(timer);
      watcher.close();
    };
  } catch {
    return () => undefined;
  }
}
