import { join } from 'node:path';
import { expect, test } from 'vitest';
import manifest from '../../packages/agent/package.json' with { type: 'json' };
import { publicNames } from '../support/library-api.ts';

const SOURCES = join(import.meta.dirname, '../../src/sdk');
const PAGE = join(import.meta.dirname, '../../docs/library-api.md');
const HEAD = `# The library, name by name

Made from the doc comments of the sources. [library.md](library.md) explains how the parts go together, and what of
this is promised to stay.
`;

/** Each import of the package, and the source that is behind it. */
const entries = Object.entries(manifest.exports).flatMap(([path, target]) =>
  typeof target === 'string'
    ? []
    : [[path.replace('.', '@ouro-cli/agent'), target.default.replace(/^.*\/(\w+)\.js$/, '$1.ts')]],
);

test('everything that is exported is documented', () => {
  const silent = entries.flatMap(([path, source = '']) =>
    publicNames(join(SOURCES, source)).flatMap(({ name, doc }) => (doc === '' ? [`${path}: ${name}`] : [])),
  );
  expect(silent).toEqual([]);
});

test('docs/library-api.md has every declaration; run this test with -u to update it', async () => {
  const told = new Set<string>();
  const parts = entries
    .toSorted(([a = ''], [b = '']) => b.length - a.length || (a < b ? -1 : 1))
    .map(([path, source = '']) => {
      const names = publicNames(join(SOURCES, source));
      const fresh = names.filter(({ name }) => !told.has(name));
      for (const { name } of names) told.add(name);
      const again = names.filter((one) => !fresh.includes(one)).map(({ name }) => `\`${name}\``);
      const more = again.length === 0 ? '' : `\nAlso here, told above: ${again.join(', ')}.\n`;
      const chapters = fresh.map(
        ({ name, doc, declared }) => `### ${name}\n\n${doc}\n\n\`\`\`ts\n${declared}\n\`\`\`\n`,
      );
      return `## ${path}\n${more}\n${chapters.join('\n')}`;
    });
  await expect(`${HEAD}\n${parts.join('\n')}`).toMatchFileSnapshot(PAGE);
});
