import core from 'highlight.js/lib/core';
import { expect, test } from 'vitest';
import { LANGUAGES } from '../../../../src/ui/widgets/markdown/highlight-languages.ts';

/** Returns the languages within a definition that may name further ones. */
function findEmbedded(definition: unknown, seen = new Set<unknown>()): string[] {
  if (typeof definition !== 'object' || definition === null || seen.has(definition)) return [];
  seen.add(definition);
  const own = 'subLanguage' in definition ? [definition.subLanguage].flat().map(String) : [];
  return [...own, ...Object.values(definition).flatMap((value) => findEmbedded(value, seen))];
}

test('the table of languages has the aliases and embedded languages of the definitions', () => {
  const instance = core.newInstance();
  const names = new Set(LANGUAGES.map(({ name }) => name));
  for (const { name, define, aliases = [], embeds = [] } of LANGUAGES) {
    instance.registerLanguage(name, define);
    expect(aliases, name).toEqual(instance.getLanguage(name)?.aliases ?? []);
    const embedded = new Set(findEmbedded(define(core)).filter((language) => names.has(language)));
    expect([...embeds], name).toEqual([...embedded].toSorted());
  }
});
