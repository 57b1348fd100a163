import { readdir, readFile, stat } from 'node:fs/promises';
import { resolve } from 'node:path';
import type { Prompt } from '../contracts/agent.ts';
import type { ResultBlock, UserBlock } from '../contracts/message.ts';
import { reminder } from './reminder.ts';

const MAX_BYTES = 100_000;
const MAX_FILES = 20;
const MEDIA = /\.(?:png|jpe?g|gif|webp|pdf)$/i;

export type ExpandPromptParts = {
  /** Where paths begin: the folder of the session, wherever its shell stands. */
  readonly cwd: string;
  readonly home: string;
  /** May this path be read without a question? */
  readonly mayRead: (path: string) => boolean;
  /** A picture or document as the model sees it; `undefined` when the file holds something else, words when it cannot be shown. */
  readonly showMedia: (path: string) => Promise<readonly ResultBlock[] | string | undefined>;
  /** What a server says about `server:uri`; `undefined` when that names no resource. */
  readonly readResource: (mention: string) => Promise<string | undefined>;
};

/** A prompt with what it names, and in sentences what it names in vain. */
export type ExpandedPrompt = { readonly prompt: Prompt; readonly problems: readonly string[] };

/** Files named with @ come along with the words, so that nobody has to read them first. The words stay as they were typed. */
export async function expandPrompt(
  words: string,
  images: readonly { readonly mediaType: string; readonly data: string }[],
  parts: ExpandPromptParts,
): Promise<ExpandedPrompt> {
  const named = [...new Set(mentions(words))].slice(0, MAX_FILES);
  const found = await Promise.all(named.map((name) => attach(name, parts)));
  const blocks: UserBlock[] = [
    ...images.map(
      ({ mediaType, data }): UserBlock => ({ type: 'image', source: { type: 'base64', media_type: mediaType, data } }),
    ),
    { type: 'text', text: words },
    ...found.flatMap((one) => (typeof one === 'string' ? [] : one)),
  ];
  const problems = found.filter((one) => typeof one === 'string');
  return { prompt: blocks.length === 1 ? words : blocks, problems };
}

/** `@path`, `@"path with spaces"`, `@path#L10-20` at the beginning of a word. */
function mentions(words: string): readonly string[] {
  const found = words.matchAll(/(?<=^|[\s(（，。、])@(?:"([^"]+)"|([^\s"]+))/g);
  return [...found].map(([, quoted, plain = '']) => quoted ?? plain.replace(/[.,;:!?)]+$/, ''));
}

/** What comes along for a mention, or why nothing does. */
async function attach(mention: string, parts: ExpandPromptParts): Promise<readonly UserBlock[] | string> {
  const { cwd, home, mayRead } = parts;
  const resource = await parts.readResource(mention);
  if (resource !== undefined) return [{ type: 'text', text: resource }];
  const [, name = mention, from, to] = /^(.*?)(?:#L(\d+)(?:-(\d+))?)?$/.exec(mention) ?? [];
  const path = resolve(cwd, name.startsWith('~/') ? `${home}/${name.slice(2)}` : name);
  const facts = await stat(path).catch(() => undefined);
  if (facts === undefined) return (await isMeantAsPath(mention, cwd)) ? `@${mention} names no file here.` : [];
  if (!mayRead(path)) return `@${mention} may not be read here, so it does not come along.`;
  if (facts.isDirectory()) {
    const names = (await readdir(path, { withFileTypes: true }).catch(() => [])).map(
      (entry) => `${entry.name}${entry.isDirectory() ? '/' : ''}`,
    );
    return ours(`The folder ${name} holds: ${names.slice(0, 200).join(', ')}`);
  }
  const media = facts.isFile() && MEDIA.test(name) ? await parts.showMedia(path) : undefined;
  if (typeof media === 'string') return media;
  if (media !== undefined) return [...ours(`The user named ${name}. It comes with this message.`), ...media];
  if (!facts.isFile() || facts.size > MAX_BYTES)
    return ours(`${name} is too large to come along (${facts.size} bytes). Read the parts you need.`);
  const text = await readFile(path, 'utf8').catch(() => undefined);
  if (text === undefined || text.includes('\0')) return `@${mention} is no text, so it does not come along.`;
  const lines = text.split('\n');
  const first = from === undefined ? 1 : Number(from);
  const last = to === undefined ? (from === undefined ? lines.length : first) : Number(to);
  const shown = lines.slice(first - 1, last).map((line, at) => `${first + at}\t${line}`);
  return ours(`The user named ${name}. It reads:\n${shown.join('\n')}`);
}

function ours(words: string): readonly UserBlock[] {
  return [{ type: 'text', text: reminder(words) }];
}

/** Names of people, packages and code stand behind an @ too; those nobody misses. */
async function isMeantAsPath(mention: string, cwd: string): Promise<boolean> {
  if (/[()'"`{}<>=;,|*$]/.test(mention)) return false;
  if (/#L\d/.test(mention) || /^(?:~|\.{1,2})?\//.test(mention)) return true;
  if (/\.[A-Za-z]\w{0,7}$/.test(mention)) return true;
  const [first = '', ...below] = mention.split('/');
  if (below.length !== 1) return below.length > 1;
  return (await stat(resolve(cwd, first)).catch(() => undefined)) !== undefined;
}
