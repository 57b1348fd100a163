import { readdir } from 'node:fs/promises';
import { dirname, join, relative } from 'node:path';
import { isInside } from './memory-read.ts';
import type { MemoryScope } from './memory-text.ts';

/** A place where a memory file may be. */
export type MemoryPlace = { readonly path: string; readonly scope: MemoryScope };

const NAMES = ['CLAUDE.md', 'AGENTS.md'];
const MAX_RULES = 200;
const MAX_RULE_DEPTH = 6;

/** Can a folder that holds something of this name hold memory files or rules? */
export function isMemoryName(name: string): boolean {
  return NAMES.includes(name) || name === 'CLAUDE.local.md' || name === '.claude';
}

/** The places in one folder, in the order they are read. */
export function placesIn(folder: string, scope: 'project' | 'nested'): readonly MemoryPlace[] {
  return [
    ...NAMES.map((name) => ({ path: join(folder, name), scope })),
    ...NAMES.map((name) => ({ path: join(folder, '.claude', name), scope })),
    { path: join(folder, 'CLAUDE.local.md'), scope: scope === 'nested' ? 'nested' : 'local' },
  ];
}

/** Folders from `top` down to `folder`, both included. */
export function foldersDown(top: string, folder: string): readonly string[] {
  if (!isInside(top, folder)) return [folder];
  const way = relative(top, folder);
  if (way === '') return [top];
  return [...foldersDown(top, dirname(folder)), folder];
}

/** The rules of one folder: every Markdown file below `.claude/rules`, in the order of their paths. */
export async function rulesIn(folder: string): Promise<readonly MemoryPlace[]> {
  const found = await markdownBelow(join(folder, '.claude', 'rules'), MAX_RULE_DEPTH);
  return found
    .toSorted()
    .slice(0, MAX_RULES)
    .map((path) => ({ path, scope: 'rule' }));
}

async function markdownBelow(folder: string, depth: number): Promise<readonly string[]> {
  if (depth === 0) return [];
  const entries = await readdir(folder, { withFileTypes: true }).catch(() => []);
  const nested = await Promise.all(
    entries.map(async (entry) => {
      const path = join(folder, entry.name);
      if (entry.isDirectory()) return markdownBelow(path, depth - 1);
      return entry.name.endsWith('.md') ? [path] : [];
    }),
  );
  return nested.flat();
}
