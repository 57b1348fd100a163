import { join, relative, sep } from 'node:path';
import { readRegularFileSync } from '../lib/files/read-regular-file.ts';
import { type IgnoreRules, parseIgnoreRules } from '../lib/patterns/glob.ts';
import { splitLines } from '../lib/text/lines.ts';

/** The ignore rules that apply to a folder, from the ignore files of its ancestors. */
export type FolderIgnoreRules = {
  isIgnored(folder: string): boolean;
  /** Returns the rules for the contents of a folder: these plus its own ignore file. */
  extendWith(folder: string, names: readonly string[]): FolderIgnoreRules;
};

/** The rules of one ignore file, relative to its folder. */
type IgnoreFile = { readonly folder: string; readonly rules: IgnoreRules };

/** Folders that tools generate; ignored even if no ignore file names them. */
const GENERATED = new Set(['node_modules', '.venv', 'venv', '__pycache__', '.mypy_cache', '.pytest_cache', '.gradle']);

/** Creates ignore rules from ignore files, outermost first. */
export function createFolderIgnoreRules(ignoreFiles: readonly IgnoreFile[] = []): FolderIgnoreRules {
  return {
    isIgnored(folder) {
      if (GENERATED.has(folder.slice(folder.lastIndexOf(sep) + 1))) return true;
      // The nearest ignore file that matches decides.
      for (const { folder: base, rules } of ignoreFiles.toReversed()) {
        const verdict = rules(`${relative(base, folder).split(sep).join('/')}/`);
        if (verdict !== undefined) return verdict === 'ignored';
      }
      return false;
    },
    extendWith(folder, names) {
      if (!names.includes('.gitignore')) return createFolderIgnoreRules(ignoreFiles);
      const rules = readIgnoreFile(join(folder, '.gitignore'));
      return rules === undefined
        ? createFolderIgnoreRules(ignoreFiles)
        : createFolderIgnoreRules([...ignoreFiles, { folder, rules }]);
    },
  };
}

function readIgnoreFile(path: string): IgnoreRules | undefined {
  try {
    return parseIgnoreRules(splitLines(readRegularFileSync(path).toString('utf8')));
  } catch {
    // A folder of that name, or an unreadable file: no rules.
    return undefined;
  }
}
