import { stat } from 'node:fs/promises';
import { basename, relative } from 'node:path';
import type { LanguageServer } from '../contracts/extension.ts';
import { readRegular } from '../lib/files/read-regular.ts';
import { createAnswers, type Patience } from './answers.ts';
import { createLanguageServer, type RunningServer } from './language-server.ts';
import type { ServerParts } from './server-life.ts';

export type LanguagesParts = ServerParts & {
  /** Those of the plugins that are on. Asked at every file. */
  readonly servers: () => readonly LanguageServer[];
  readonly patience?: Patience;
};

const MOST_BYTES = 1024 * 1024;

/** The language servers of a conversation, and the files they were shown. */
export type Languages = ReturnType<typeof createLanguages>;

export function createLanguages(parts: LanguagesParts) {
  const running = new Map<string, RunningServer>();
  const stamps = new Map<string, string>();
  const answers = createAnswers(() => [...running.values()], parts.patience);

  function runningOf(config: LanguageServer): RunningServer {
    const key = JSON.stringify(config);
    const known = running.get(key);
    if (known !== undefined) return known;
    const made = createLanguageServer(config, parts, answers.heard);
    running.set(key, made);
    return made;
  }

  /** Those that know a file of this name, with what its language is called there. */
  function serversFor(path: string): readonly { readonly server: RunningServer; readonly language: string }[] {
    const way = relative(parts.folder, path);
    if (way.startsWith('..')) return [];
    return parts.servers().flatMap((config) => {
      const language = languageOf(config, basename(path));
      return language === undefined ? [] : [{ server: runningOf(config), language }];
    });
  }

  /** Servers of plugins that are no longer on. */
  async function endStray(): Promise<void> {
    const wanted = new Set(parts.servers().map((config) => JSON.stringify(config)));
    const stray = [...running].filter(([key]) => !wanted.has(key));
    for (const [key] of stray) running.delete(key);
    await Promise.all(stray.map(([, server]) => server.end()));
  }

  /** Shows a file as it is on the disk to those that know its language. */
  async function show(path: string, how: { readonly isOurs: boolean }): Promise<readonly RunningServer[]> {
    const knowing = serversFor(path);
    if (knowing.length === 0) return [];
    const facts = await stat(path).catch(() => undefined);
    // What cannot be read, or is no text anybody works on, is none for a server either.
    const text = await readRegular(path, MOST_BYTES).catch(() => undefined);
    if (text === undefined) {
      for (const { server } of knowing) server.close(path);
      return [];
    }
    stamps.set(path, stampOf(facts));
    for (const { server, language } of knowing) server.show(path, language, text, how);
    return knowing.map(({ server }) => server);
  }

  /** Files that are open and that somebody has changed since, by whatever means. */
  async function followDisk(): Promise<void> {
    await endStray();
    const open = new Set([...running.values()].flatMap((server) => [...server.opened().keys()]));
    await Promise.all(
      [...open].map(async (path) => {
        const stamp = stampOf(await stat(path).catch(() => undefined));
        if (stamps.get(path) !== stamp) await show(path, { isOurs: false });
      }),
    );
  }

  return {
    folder: parts.folder,
    hasAny: () => parts.servers().length > 0,
    knows: (path: string) => serversFor(path).length > 0,
    running: (): readonly RunningServer[] => [...running.values()],
    show,
    followDisk,
    answered: answers.of,
    /** All servers end, with everything they have started. */
    async close(): Promise<void> {
      await Promise.all([...running.values()].map((server) => server.end()));
    },
  };
}

const stampOf = (facts: { readonly mtimeMs: number; readonly size: number } | undefined) =>
  facts === undefined ? 'gone' : `${facts.mtimeMs} ${facts.size}`;

/** By the longest ending that fits. */
function languageOf({ languages }: LanguageServer, name: string): string | undefined {
  const lower = name.toLowerCase();
  const endings = Object.keys(languages).filter((ending) => lower.endsWith(ending));
  const [longest] = endings.toSorted((a, b) => b.length - a.length);
  return longest === undefined ? undefined : languages[longest];
}
