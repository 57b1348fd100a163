import { readFileSync } from 'node:fs';
import { join, relative, sep } from 'node:path';
import { type IgnoreRules, readIgnore } from '../lib/patterns/gitignore.ts';
import { splitLines } from '../lib/text/lines.ts';

type Rules = { readonly folder: string; readonly rules: IgnoreRules };

/** What the ignore files on the way down say about a folder. */
export type IgnoredFolders = {
  isIgnored(folder: string): boolean;
  /** The same with what stands in this folder's own ignore file. */
  within(folder: string, names: readonly string[]): IgnoredFolders;
};

/** Made by tools and made again by tools, whether anybody wrote them into an ignore file or not. */
const MADE = new Set(['node_modules', '.venv', 'venv', '__pycache__', '.mypy_cache', '.pytest_cache', '.gradle']);

export function ignoredFolders(above: readonly Rules[] = []): IgnoredFolders {
  return {
    isIgnored(folder) {
      if (MADE.has(folder.slice(folder.lastIndexOf(sep) + 1))) return true;
      // The nearest file that has an opinion decides.
      for (const { folder: base, rules } of above.toReversed()) {
        const said = rules(`${relative(base, folder).split(sep).join('/')}/`);
        if (said !== undefined) return said === 'ignored';
      }
      return false;
    },
    within(folder, names) {
      if (!names.includes('.gitignore')) return ignoredFolders(above);
      const text = textOf(join(folder, '.gitignore'));
      return text === undefined ? ignoredFolders(above) : ignoredFolders([...above, { folder, rules: text }]);
    },
  };
}

function textOf(path: string): IgnoreRules | undefined {
  try {
    return readIgnore(splitLines(readFileSync(path, 'utf8')));
  } catch {
    // A folder of that name, or nobody may read it: then it says nothing.
    return undefined;
  }
}
