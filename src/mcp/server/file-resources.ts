import { basename, dirname, resolve } from 'node:path';
import { pathToFileURL } from 'node:url';
import type { CompleteRequest } from '@modelcontextprotocol/sdk/types.js';
import type { Conversation } from '../../contracts/frontend/conversation.ts';
import { parseFileUri } from '../../lib/files/file-uri.ts';
import { watchFolder } from '../../lib/files/watch-folder.ts';
import type { ServedFeatures } from './server-definition.ts';

const PAGE_SIZE = 200;
const MAX_BYTES = 5 * 1024 * 1024;
const MAX_FILES = 100_000;
const MAX_COMPLETIONS = 100;

type FileResources = NonNullable<ServedFeatures['resources']> & {
  readonly complete: (params: CompleteRequest['params']) => Promise<readonly string[]>;
};

/** Creates the resources for the files of the session's folder that the Read tool may read without asking. */
export function createFileResources({ findFiles, control, info }: Conversation): FileResources {
  const { folder } = info();
  const template = `${pathToFileURL(folder).href}/{+path}`;
  const readFile = async (path: string) =>
    (await control?.readFile?.(path, MAX_BYTES)) ?? { ok: false as const, why: 'Files are not available.' };
  return {
    async list(offset) {
      const paths = (await findFiles('', MAX_FILES)).filter((path) => !path.endsWith('/'));
      const resources = paths
        .slice(offset, offset + PAGE_SIZE)
        .map((path) => ({ uri: getFileUri(folder, path), name: path }));
      return { resources, ...(paths.length > offset + PAGE_SIZE ? { next: offset + PAGE_SIZE } : {}) };
    },
    templates: () => [
      { uriTemplate: template, name: 'A file', description: `A file in ${folder}, addressed by its relative path.` },
    ],
    async read(uri) {
      const path = parseFileUri(uri);
      if (path === undefined) return `${uri} is not a file address.`;
      const file = await readFile(path);
      if (!file.ok) return file.why;
      if (file.truncated) return `${uri} is larger than ${MAX_BYTES} bytes.`;
      const text = decodeText(file.bytes);
      const blob = { uri, mimeType: 'application/octet-stream', blob: Buffer.from(file.bytes).toString('base64') };
      return { contents: [text === undefined ? blob : { uri, mimeType: 'text/plain', text }] };
    },
    watch(uri, onChange) {
      const path = parseFileUri(uri);
      return path === undefined ? () => undefined : watchFolder(dirname(path), onChange, basename(path));
    },
    complete: async ({ ref, argument }) =>
      ref.type === 'ref/resource' && ref.uri === template ? findFiles(argument.value, MAX_COMPLETIONS) : [],
  };
}

function getFileUri(folder: string, path: string): string {
  return pathToFileURL(resolve(folder, path)).href;
}

/** Decodes UTF-8 text; `undefined` for binary data. */
function decodeText(bytes: Uint8Array): string | undefined {
  try {
    const text = new TextDecoder('utf-8', { fatal: true }).decode(bytes);
    return text.includes('\0') ? undefined : text;
  } catch {
    return undefined;
  }
}
