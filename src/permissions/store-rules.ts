import { z } from 'zod';
import type { RuleBehavior } from '../contracts/permission.ts';
import { exhaustive } from '../lib/exhaustive.ts';
import { editJsonc, type LinkHandling } from '../lib/files/edit-jsonc.ts';

/** What becomes of one list of a settings file. */
export type ListChange = {
  readonly list: RuleBehavior | 'additionalDirectories';
  readonly how: 'add' | 'replace' | 'remove';
  readonly items: readonly string[];
};

const lists = z.object({ permissions: z.record(z.string(), z.unknown()).catch({}) }).catch({ permissions: {} });
const texts = z.array(z.string());

/** Changes a permission list of a settings file and leaves every other byte of it, comments too. */
export function storeRules(file: string, { list, how, items }: ListChange, links: LinkHandling): Promise<void> {
  return editJsonc(
    file,
    (whole) => {
      const known = texts.safeParse(lists.parse(whole).permissions[list] ?? []);
      if (!known.success) throw new Error(`"permissions.${list}" in ${file} is not a list of texts. Mend it first.`);
      const value = changed(known.data, how, items);
      return value.length === known.data.length && value.every((item, at) => item === known.data[at])
        ? []
        : [{ path: ['permissions', list], value }];
    },
    links,
  );
}

function changed(known: readonly string[], how: ListChange['how'], items: readonly string[]): readonly string[] {
  switch (how) {
    case 'add':
      return [...known, ...items.filter((item) => !known.includes(item))];
    case 'remove':
      return known.filter((item) => !items.includes(item));
    case 'replace':
      return items;
    default:
      return exhaustive(how);
  }
}
