import { appendFile, mkdir, readFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { ifThere } from '../../lib/files/errno.ts';

/** Where a line typed with `#` may be kept. */
export type PinTarget = { readonly label: string; readonly path: string };

/** The files a `#` line can go to, the nearest first. */
export function pinTargets(places: { readonly root: string; readonly userFile: string }): readonly PinTarget[] {
  return [
    { label: 'This project, shared (CLAUDE.md)', path: join(places.root, 'CLAUDE.md') },
    { label: 'This project, only here (CLAUDE.local.md)', path: join(places.root, 'CLAUDE.local.md') },
    { label: 'All my projects', path: places.userFile },
  ];
}

/** Adds a line to a memory file, which is created when missing. What is there stays byte for byte. */
export async function appendPin(path: string, words: string): Promise<void> {
  const line = `- ${words
    .trim()
    .replace(/^[-*]\s+/, '')
    .replaceAll('\n', '\n  ')}`;
  const before = await ifThere(readFile(path, 'utf8'));
  await mkdir(dirname(path), { recursive: true });
  const eol = before?.includes('\r\n') === true ? '\r\n' : '\n';
  const gap = before === undefined || before === '' || before.endsWith('\n') ? '' : eol;
  await appendFile(path, `${gap}${line.replaceAll('\n', eol)}${eol}`);
}
