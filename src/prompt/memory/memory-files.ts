import { stat } from 'node:fs/promises';
import { dirname, relative, resolve, sep } from 'node:path';
import { parseMemory } from './memory-parse.ts';
import { foldersDown, type MemoryPlace, placesIn, rulesIn } from './memory-places.ts';
import { isInside, readMemoryFile } from './memory-read.ts';
import type { MemoryFile } from './memory-text.ts';
import { matchesGlobs } from './path-globs.ts';

export type MemoryParts = {
  readonly cwd: () => string;
  /** The top of the project: the root of the repository, or the working directory without one. */
  readonly root: string;
  readonly home: string;
  readonly managedFile: string;
  /** The user's own files, read whatever the project is. */
  readonly userFiles: readonly string[];
  readonly trusted: () => boolean;
};

export type MemoryReport = {
  readonly files: readonly (MemoryFile & { readonly state: 'loaded' | 'waiting'; readonly chars: number })[];
  readonly problems: readonly string[];
};

export type Memory = {
  /** What belongs into the system prompt. */
  load(): Promise<readonly MemoryFile[]>;
  /** Memory files and rules that these paths bring in, each given once. */
  touch(paths: readonly string[]): Promise<readonly MemoryFile[]>;
  /** Files that read differently now; a file that is gone comes with empty text. */
  changed(): Promise<readonly MemoryFile[]>;
  /** A file was made or changed by the user in our sight, so that it reads differently is no news. */
  accept(place: MemoryPlace): Promise<void>;
  /** What was told beside the prompt has left the conversation: it is told again when it is due. */
  retell(): void;
  report(): MemoryReport;
};

const IMPORT_DEPTH = 5;
const TOTAL_CHARS = 120_000;

type Known = {
  readonly file: MemoryFile;
  readonly folder: string;
  readonly realPath: string;
  readonly mtimeMs: number;
};

/** The memory files of a session: found, read once each, with what they import. */
export function createMemory(parts: MemoryParts): Memory {
  let loaded: Known[] = [];
  let waiting: Known[] = [];
  /** As the prompt shows them, by path. */
  let shown = new Map<string, string>();
  const problems: string[] = [];
  const visited = new Set<string>();
  const foldersSeen = new Set<string>();
  let chars = 0;

  const guardOf = (place: MemoryPlace) =>
    parts.trusted() || place.scope === 'managed' || place.scope === 'user' ? undefined : parts.root;

  const read = async (
    place: MemoryPlace,
    folder: string,
    depth: number,
    importedBy?: string,
  ): Promise<readonly Known[]> => {
    const source = await readMemoryFile(place.path, guardOf(place));
    if (source?.problem !== undefined) problems.push(`${place.path} ${source.problem}`);
    if (source === undefined || !source.ok || visited.has(source.realPath)) return [];
    visited.add(source.realPath);
    const parsed = await parseMemory(source.text);
    if (parsed.problem !== undefined) problems.push(`${place.path} ${parsed.problem}`);
    const isRepeated = [...loaded, ...waiting].some(({ file }) => file.text === parsed.text);
    const file: MemoryFile = {
      ...place,
      text: parsed.text,
      ...(importedBy === undefined ? {} : { importedBy }),
      ...(parsed.paths === undefined ? {} : { paths: parsed.paths }),
    };
    const own =
      parsed.text === '' || isRepeated
        ? []
        : keep({ file, folder, realPath: source.realPath, mtimeMs: source.mtimeMs });
    const imported: Known[] = [];
    for (const target of parsed.imports) imported.push(...(await follow(target, place, folder, depth)));
    return [...own, ...imported];
  };

  const keep = (known: Known): readonly Known[] => {
    if (known.file.paths !== undefined) {
      waiting.push(known);
      return [];
    }
    return admit(known);
  };

  const admit = (known: Known): readonly Known[] => {
    chars += known.file.text.length;
    if (chars > TOTAL_CHARS) {
      problems.push(`${known.file.path} is left out: memory files have more than ${TOTAL_CHARS} characters together`);
      chars -= known.file.text.length;
      return [];
    }
    loaded.push(known);
    return [known];
  };

  const follow = async (
    target: string,
    from: MemoryPlace,
    folder: string,
    depth: number,
  ): Promise<readonly Known[]> => {
    const path = target.startsWith('~/') ? resolve(parts.home, target.slice(2)) : resolve(dirname(from.path), target);
    if (depth >= IMPORT_DEPTH) {
      problems.push(`${from.path} imports ${target} deeper than ${IMPORT_DEPTH} levels; it is left out`);
      return [];
    }
    const isOutside = guardOf(from) !== undefined && !isInside(parts.root, path);
    if (isOutside) {
      problems.push(
        `${from.path} imports ${target}, which lies outside the project, and the project is not trusted yet`,
      );
      return [];
    }
    const exists = await stat(path).then(
      (facts) => facts.isFile(),
      () => false,
    );
    if (!exists) {
      if (/\.md$|^[./~]/.test(target)) problems.push(`${from.path} imports ${target}, which is not there`);
      return [];
    }
    return read({ path, scope: from.scope }, folder, depth + 1, from.path);
  };

  const readFolder = async (folder: string, scope: 'project' | 'nested'): Promise<readonly Known[]> => {
    if (foldersSeen.has(folder)) return [];
    foldersSeen.add(folder);
    const found: Known[] = [];
    for (const place of placesIn(folder, scope)) found.push(...(await read(place, folder, 0)));
    return found;
  };

  const readRules = async (folder: string): Promise<readonly Known[]> => {
    const found: Known[] = [];
    for (const place of await rulesIn(folder)) found.push(...(await read(place, folder, 0)));
    return found;
  };

  return {
    load: async () => {
      loaded = [];
      waiting = [];
      problems.length = 0;
      visited.clear();
      foldersSeen.clear();
      chars = 0;
      const found: Known[] = [
        ...(await read({ path: parts.managedFile, scope: 'managed' }, dirname(parts.managedFile), 0)),
      ];
      for (const path of parts.userFiles) found.push(...(await read({ path, scope: 'user' }, dirname(path), 0)));
      const folders = foldersDown(parts.root, parts.cwd());
      for (const folder of folders) found.push(...(await readFolder(folder, 'project')));
      for (const folder of folders) found.push(...(await readRules(folder)));
      shown = new Map(found.map(({ file }) => [file.path, file.text]));
      return found.map((known) => known.file);
    },
    touch: async (paths) => {
      const found: Known[] = [];
      for (const path of paths) {
        const absolute = resolve(parts.cwd(), path);
        if (!isInside(parts.root, absolute)) continue;
        for (const folder of foldersDown(parts.root, dirname(absolute))) {
          if (foldersSeen.has(folder)) continue;
          found.push(...(await readFolder(folder, 'nested')), ...(await readRules(folder)));
        }
        for (const rule of [...waiting]) {
          const way = relative(rule.folder, absolute).split(sep).join('/');
          if (!(await matchesGlobs(rule.file.paths ?? [], way))) continue;
          waiting.splice(waiting.indexOf(rule), 1);
          found.push(...admit(rule));
        }
      }
      return found.map((known) => known.file);
    },
    changed: async () => {
      const changes: MemoryFile[] = [];
      for (const [index, known] of loaded.entries()) {
        const mtimeMs = await stat(known.file.path).then(
          (facts) => facts.mtimeMs,
          () => -1,
        );
        if (mtimeMs === known.mtimeMs) continue;
        const source = await readMemoryFile(known.file.path, guardOf(known.file));
        const text = source?.ok === true ? (await parseMemory(source.text)).text : '';
        const file = { ...known.file, text };
        loaded[index] = { ...known, file, mtimeMs };
        if (text !== known.file.text) changes.push(file);
      }
      return changes;
    },
    accept: async (place) => {
      const known = loaded.find(({ file }) => file.path === place.path);
      const source = await readMemoryFile(place.path, guardOf(place));
      if (source?.ok !== true) return;
      const { realPath, mtimeMs } = source;
      const file = { ...place, ...known?.file, text: (await parseMemory(source.text)).text };
      const fresh = { folder: dirname(place.path), ...known, file, realPath, mtimeMs };
      loaded = [...loaded.filter((other) => other !== known), fresh];
      if (known === undefined) shown.set(place.path, file.text);
      visited.add(realPath);
    },
    retell: () => {
      const brought = loaded.filter(({ file }) => !shown.has(file.path));
      for (const known of brought) {
        chars -= known.file.text.length;
        if (known.file.paths !== undefined) waiting.push(known);
        else visited.delete(known.realPath);
        foldersSeen.delete(known.folder);
      }
      loaded = loaded
        .filter(({ file }) => shown.has(file.path))
        .map((known) => {
          const text = shown.get(known.file.path);
          return text === undefined || text === known.file.text
            ? known
            : { ...known, file: { ...known.file, text }, mtimeMs: Number.NaN };
        });
    },
    report: () => ({
      files: [
        ...loaded.map(({ file }) => ({ ...file, state: 'loaded' as const, chars: file.text.length })),
        ...waiting.map(({ file }) => ({ ...file, state: 'waiting' as const, chars: file.text.length })),
      ],
      problems,
    }),
  };
}
