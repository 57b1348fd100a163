import { basename } from 'node:path';
import type { ExtensionProblem } from '../contracts/extension.ts';

const MOST_NAMES = 4;

/** One sentence for all files of a folder about the fields of their heads that change nothing here. */
export function unusedLine(
  folder: string,
  what: string,
  unused: ReadonlyMap<string, readonly string[]>,
): readonly ExtensionProblem[] {
  const files = new Map<string, string[]>();
  for (const [file, fields] of unused)
    for (const field of fields) files.set(field, [...(files.get(field) ?? []), basename(file)]);
  if (files.size === 0) return [];
  const each = [...files].map(([field, names]) => {
    const more = names.length > MOST_NAMES ? ` and ${names.length - MOST_NAMES} more` : '';
    return `${field} (${names.slice(0, MOST_NAMES).join(', ')}${more})`;
  });
  return [{ path: folder, text: `has ${what} with fields that change nothing in ouro: ${each.join('; ')}.` }];
}
