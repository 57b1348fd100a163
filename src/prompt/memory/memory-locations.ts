import { readdir } from 'node:fs/promises';
import { dirname, isAbsolute, join, relative } from 'node:path';
import { isPathBelow } from '../../lib/files/path-style.ts';
import type { MemoryFileScope } from './render-memory.ts';

/** A path where a memory file may exist. */
export type MemoryLocation = { readonly path: string; readonly scope: MemoryFileScope };

const NAMES = ['CLAUDE.md', 'AGENTS.md'];
const MAX_RULES = 200;
const MAX_RULE_DEPTH = 6;

/** Returns whether an entry of this name means that its folder has memory files or rules. */
function isMemoryFileName(name: string): boolean {
  return NAMES.includes(name) || name === 'CLAUDE.local.md' || name === '.claude';
}

/** Lists the possible memory files of a folder in reading order. */
export function listMemoryLocations(folder: string, scope: 'project' | 'nested'): readonly MemoryLocation[] {
  return [
    ...NAMES.map((name) => ({ path: join(folder, name), scope })),
    ...NAMES.map((name) => ({ path: join(folder, '.claude', name), scope })),
    { path: join(folder, 'CLAUDE.local.md'), scope: scope === 'nested' ? 'nested' : 'local' },
  ];
}

/** Lists the folders from `top` down to `folder`, both included. */
export function listFoldersDown(top: string, folder: string): readonly string[] {
  if (!isPathBelow(top, folder)) return [folder];
  const relativePath = relative(top, folder);
  if (relativePath === '') return [top];
  return [...listFoldersDown(top, dirname(folder)), folder];
}

/** Lists the rules of a folder: every Markdown file below `.claude/rules`, sorted by path. */
export async function listMemoryRuleFiles(folder: string): Promise<readonly MemoryLocation[]> {
  const found = await listMarkdownFiles(join(folder, '.claude', 'rules'), MAX_RULE_DEPTH);
  return found
    .toSorted()
    .slice(0, MAX_RULES)
    .map((path) => ({ path, scope: 'rule' }));
}

async function listMarkdownFiles(folder: string, depth: number): Promise<readonly string[]> {
  if (depth === 0) return [];
  const entries = await readdir(folder, { withFileTypes: true }).catch(() => []);
  const nested = await Promise.all(
    entries.map(async (entry) => {
      const path = join(folder, entry.name);
      if (entry.isDirectory()) return listMarkdownFiles(path, depth - 1);
      return entry.name.endsWith('.md') ? [path] : [];
    }),
  );
  return nested.flat();
}

/** A path or glob of the setting `instructionFiles`, and whether the user or the project names it. */
export type ConfiguredInstructions = { readonly pattern: string; readonly by: 'user' | 'project' };

/** Lists the files that `instructionFiles` names: below the folders of the project, or by whole path for the user. */
export async function listConfiguredInstructions(
  named: readonly ConfiguredInstructions[],
  { folders, home }: { readonly folders: readonly string[]; readonly home: string },
): Promise<readonly MemoryLocation[]> {
  if (named.length === 0) return [];
  const { glob } = await import('fast-glob');
  const found = await Promise.all(
    named.flatMap(({ pattern, by }) => {
      const whole = pattern.startsWith('~/') ? join(home, pattern.slice(2)) : pattern;
      const isWhole = isAbsolute(whole);
      const scope: MemoryFileScope = isWhole && by === 'user' ? 'user' : 'project';
      return (isWhole ? ['/'] : folders).map(async (cwd) => {
        const ignore = ['**/node_modules/**', '**/.git/**'];
        const options = { cwd, dot: true, absolute: true, deep: MAX_RULE_DEPTH, suppressErrors: true, ignore };
        const paths = await glob(isWhole ? whole.slice(1) : whole, isWhole ? { ...options, deep: 64 } : options);
        return paths
          .toSorted()
          .slice(0, MAX_RULES)
          .map((path): MemoryLocation => ({ path, scope }));
      });
    }),
  );
  return found.flat();
}

const MAX_FOLDERS = 5_000;
const MAX_MS = 2_000;
/** Folders of dependencies and build output, which are not searched. */
const SKIPPED_FOLDERS = new Set(['.git', 'node_modules', '.venv', 'venv', 'target', 'dist', 'build', '__pycache__']);

/**
 * Searches a folder for subfolders with memory files or rules; returns a path in each. The search is limited in time and
 * size: anything it misses is asked about when a session comes across it.
 */
export async function findMemoryBelow(top: string): Promise<readonly string[]> {
  const startedAt = performance.now();
  const folders = [top];
  const found: string[] = [];
  for (let at = 0; at < Math.min(folders.length, MAX_FOLDERS); at += 1) {
    if (performance.now() - startedAt > MAX_MS) break;
    const folder = folders[at] ?? top;
    const entries = await readdir(folder, { withFileTypes: true }).catch(() => []);
    if (entries.some(({ name }) => isMemoryFileName(name))) found.push(join(folder, 'file'));
    for (const entry of entries)
      if (entry.isDirectory() && !SKIPPED_FOLDERS.has(entry.name) && entry.name !== '.claude')
        folders.push(join(folder, entry.name));
  }
  return found;
}
