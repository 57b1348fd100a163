import { readdir, readFile } from 'node:fs/promises';
import { nearest } from '../../lib/nearest.ts';
import type { CommandRequest } from '../command-request.ts';
import { allFlagsText, helpText } from '../help.ts';
import { UsageError } from '../usage-error.ts';

const PAGES = new URL('../../../docs/', import.meta.url);

/** `ouro help [topic]`: the short help, every flag, or a page of the documentation. */
export async function run({ words: [topic], io }: CommandRequest): Promise<number> {
  const pages = await pageNames();
  if (topic === undefined) {
    io.stdout.write(`${helpText()}Topics: ${['flags', ...pages].join(', ')}\n`);
    return 0;
  }
  if (topic === 'flags') {
    io.stdout.write(allFlagsText());
    return 0;
  }
  if (!pages.includes(topic)) {
    const meant = nearest(topic, ['flags', ...pages]);
    const topics = meant === undefined ? `Topics: ${['flags', ...pages].join(', ')}.` : `Did you mean ${meant}?`;
    throw new UsageError(`There is no help topic ${topic}. ${topics}`);
  }
  io.stdout.write(await readFile(new URL(`${topic}.md`, PAGES), 'utf8'));
  return 0;
}

async function pageNames(): Promise<readonly string[]> {
  const names = await readdir(PAGES).catch(() => []);
  return names.flatMap((name) => (name.endsWith('.md') ? [name.slice(0, -3)] : [])).toSorted();
}
