import { readFile } from 'node:fs/promises';
import { extname } from 'node:path';
import type { DraftPart } from '../composer/folds.ts';

const TYPES: Readonly<Record<string, string>> = {
  '.png': 'image/png',
  '.jpg': 'image/jpeg',
  '.jpeg': 'image/jpeg',
  '.gif': 'image/gif',
  '.webp': 'image/webp',
};

/** The pictures of a message by their bytes. */
export function readImages(
  parts: readonly DraftPart[],
): Promise<readonly { readonly mediaType: string; readonly data: string }[]> {
  const images = parts.flatMap((part) => (part.kind === 'image' ? [part] : []));
  return Promise.all(
    images.map(async ({ path }) => ({
      mediaType: TYPES[extname(path).toLowerCase()] ?? 'image/png',
      data: (await readFile(path)).toString('base64'),
    })),
  );
}
