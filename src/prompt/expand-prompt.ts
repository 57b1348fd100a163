import { readdir, readFile, stat } from 'node:fs/promises';
import { resolve } from 'node:path';
import type { Prompt } from '../contracts/agent.ts';
import type { UserBlock } from '../contracts/message.ts';
import { reminder } from './reminder.ts';

const MAX_BYTES = 100_000;
const MAX_FILES = 20;

export type ExpandPromptParts = {
  readonly cwd: string;
  readonly home: string;
  /** May this path be read without a question? */
  readonly mayRead: (path: string) => boolean;
  /** What a server says about `server:uri`; `undefined` when that names no resource. */
  readonly readResource: (mention: string) => Promise<string | undefined>;
};

/** Files named with @ come along with the words, so that nobody has to read them first. The words stay as they were typed. */
export async function expandPrompt(
  words: string,
  images: readonly { readonly mediaType: string; readonly data: string }[],
  parts: ExpandPromptParts,
): Promise<Prompt> {
  const named = [...new Set(mentions(words))].slice(0, MAX_FILES);
  const files = await Promise.all(named.map(async (name) => (await parts.readResource(name)) ?? attach(name, parts)));
  const blocks: UserBlock[] = [
    ...images.map(
      ({ mediaType, data }): UserBlock => ({ type: 'image', source: { type: 'base64', media_type: mediaType, data } }),
    ),
    { type: 'text', text: words },
    ...files.flatMap((text): UserBlock[] => (text === undefined ? [] : [{ type: 'text', text }])),
  ];
  return blocks.length === 1 ? words : blocks;
}

/** `@path`, `@"path with spaces"`, `@path#L10-20` at the beginning of a word. */
function mentions(words: string): readonly string[] {
  const found = words.matchAll(/(?<=^|[\s(（，。、])@(?:"([^"]+)"|([^\s"]+))/g);
  return [...found].map(([, quoted, plain = '']) => quoted ?? plain.replace(/[.,;:!?)]+$/, ''));
}

async function attach(mention: string, { cwd, home, mayRead }: ExpandPromptParts): Promise<string | undefined> {
  const [, name = mention, from, to] = /^(.*?)(?:#L(\d+)(?:-(\d+))?)?$/.exec(mention) ?? [];
  const path = resolve(cwd, name.startsWith('~/') ? `${home}/${name.slice(2)}` : name);
  const facts = await stat(path).catch(() => undefined);
  if (facts === undefined || !mayRead(path)) return undefined;
  if (facts.isDirectory()) {
    const names = (await readdir(path, { withFileTypes: true }).catch(() => [])).map(
      (entry) => `${entry.name}${entry.isDirectory() ? '/' : ''}`,
    );
    return reminder(`The folder ${name} holds: ${names.slice(0, 200).join(', ')}`);
  }
  if (!facts.isFile() || facts.size > MAX_BYTES)
    return reminder(`${name} is too large to come along (${facts.size} bytes). Read the parts you need.`);
  const text = await readFile(path, 'utf8').catch(() => undefined);
  if (text === undefined || text.includes('\0')) return undefined;
  const lines = text.split('\n');
  const first = from === undefined ? 1 : Number(from);
  const last = to === undefined ? (from === undefined ? lines.length : first) : Number(to);
  const shown = lines.slice(first - 1, last).map((line, at) => `${first + at}\t${line}`);
  return reminder(`The user named ${name}. It reads:\n${shown.join('\n')}`);
}
