import { relative } from 'node:path';
import { untrustedLine } from '../lib/text/sanitize.ts';
import type { Languages } from './languages.ts';
import { type Counts, countsOf, newSince, type Problem } from './problems.ts';

/** What one conversation, or one sub-agent, has to do with files, and what became wrong with them since. */
export type FileWatch = {
  /** It has looked at a file: what is wrong in it already is no news. Resolves when servers have the file. */
  read(path: string): Promise<void>;
  wrote(path: string): Promise<void>;
  /** What is wrong now and was not before, for the model; each problem is told once. */
  news(signal: AbortSignal): Promise<readonly string[]>;
};

type Found = { readonly path: string; readonly problems: readonly Problem[] };

const MOST_IN_FILE = 10;
const MOST_FILES = 10;
const MESSAGE_CHARS = 400;
const CODE_CHARS = 60;

/** `tell` says in a line to a person what was found. */
export function createFileWatch(languages: Languages, tell: (words: string) => void): FileWatch {
  /** By file, the version that was known when it was last looked at. */
  const mine = new Map<string, number>();
  const told = new Map<string, Counts>();
  let hasWritten = false;

  const versionOf = (path: string) =>
    Math.max(0, ...languages.running().map((server) => server.opened().get(path)?.version ?? 0));

  async function look(path: string, seen: number | undefined): Promise<void> {
    if (!languages.knows(path)) return;
    await languages.show(path, { isOurs: seen === 0 });
    if (!mine.has(path)) mine.set(path, seen ?? versionOf(path));
  }

  /** Files of mine that are another version now. */
  function changed(): readonly string[] {
    const paths = [...mine].filter(([path, seen]) => versionOf(path) > seen).map(([path]) => path);
    for (const path of paths) mine.set(path, versionOf(path));
    return paths;
  }

  return {
    read: (path) => look(path, undefined),
    wrote: (path) => look(path, 0),
    async news(signal) {
      if (mine.size === 0) return [];
      await languages.followDisk();
      const paths = changed();
      hasWritten ||= paths.length > 0;
      if (!hasWritten) return [];
      if (paths.length > 0) await languages.answered(paths, signal);
      return languages.running().flatMap(({ config: { name, tellsProblems }, known }) => {
        if (!tellsProblems) return [];
        const found = [...known()].flatMap(([path, { problems, before }]): readonly Found[] => {
          const key = `${name} ${path}`;
          const fresh = newSince(told.get(key) ?? before, problems);
          told.set(key, countsOf(problems));
          return fresh.length === 0 ? [] : [{ path: relative(languages.folder, path), problems: fresh }];
        });
        if (found.length === 0) return [];
        tell(lineOf(name, found));
        return [wordsOf(name, found)];
      });
    },
  };
}

function lineOf(name: string, found: readonly Found[]): string {
  const count = found.reduce((sum, { problems }) => sum + problems.length, 0);
  const [first] = found;
  const where = found.length === 1 ? first?.path : `${found.length} files`;
  return `${name} found ${count === 1 ? 'a new problem' : `${count} new problems`} in ${where}.`;
}

function wordsOf(name: string, found: readonly Found[]): string {
  const lines = found.slice(0, MOST_FILES).flatMap(({ path, problems }) => {
    const each = problems.slice(0, MOST_IN_FILE).map(({ line, column, kind, code, message }) => {
      const by = code === '' ? '' : ` (${untrustedLine(code, CODE_CHARS)})`;
      return `${untrustedLine(path, MESSAGE_CHARS)}:${line}:${column} ${kind}: ${untrustedLine(message, MESSAGE_CHARS)}${by}`;
    });
    const left = problems.length - each.length;
    return left === 0 ? each : [...each, `${path}: and ${left} more`];
  });
  const more = found.length > MOST_FILES ? [`and more in ${found.length - MOST_FILES} other files`] : [];
  return [`The language server ${name} finds since the last changes:`, ...lines, ...more].join('\n');
}
