import { readFile } from 'node:fs/promises';
import { applyEdits, modify, parse } from 'jsonc-parser';
import { z } from 'zod';
import type { RuleBehavior } from '../contracts/permission.ts';
import { ifThere } from '../lib/files/errno.ts';
import { writePrivately } from '../lib/files/private-file.ts';

/** What becomes of the lists of one settings file. */
export type ListChange = {
  readonly list: RuleBehavior | 'additionalDirectories';
  readonly how: 'add' | 'replace' | 'remove';
  readonly items: readonly string[];
};

const listSchema = z.array(z.string()).catch([]);
const FORMAT = { formattingOptions: { insertSpaces: true, tabSize: 2, eol: '\n' } };

/** Changes the permission lists of a settings file and leaves every other byte of it, comments too. */
export async function storeRules(file: string, changes: readonly ListChange[]): Promise<void> {
  const before = (await ifThere(readFile(file, 'utf8'))) ?? '';
  let text = before.trim() === '' ? '{}\n' : before;
  for (const { list, how, items } of changes) {
    const whole: unknown = parse(text, [], { allowTrailingComma: true });
    const current = listSchema.parse(valueAt(whole, ['permissions', list]));
    const next =
      how === 'replace'
        ? items
        : how === 'remove'
          ? current.filter((item) => !items.includes(item))
          : [...current, ...items.filter((item) => !current.includes(item))];
    text = applyEdits(text, modify(text, ['permissions', list], next, FORMAT));
  }
  if (text !== before) await writePrivately(file, text);
}

function valueAt(whole: unknown, path: readonly string[]): unknown {
  return path.reduce<unknown>(
    (value, key) => (typeof value === 'object' && value !== null ? Reflect.get(value, key) : undefined),
    whole,
  );
}
