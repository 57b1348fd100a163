import { expect, test } from 'vitest';
import { createSpecSorter } from '../../src/tools/deferred-tool-specs.ts';

const specs = (...names: readonly string[]) => names.map((name) => ({ name, description: '', input_schema: {} }));
const names = (given: ReturnType<typeof specs>) => given.map(({ name }) => name);

test('tools keep their position, new ones are last, and returning ones have their old position', () => {
  const inOrder = createSpecSorter(specs('Read', 'Write'));
  const sent = (...given: readonly string[]) => names([...inOrder(specs(...given))]);
  expect(sent('Bash', 'Read', 'Write')).toEqual(['Read', 'Write', 'Bash']);
  expect(sent('Agent', 'Bash', 'Read', 'Write')).toEqual(['Read', 'Write', 'Bash', 'Agent']);
  expect(sent('Agent', 'Read')).toEqual(['Read', 'Agent']);
  expect(sent('Read', 'Bash', 'Agent')).toEqual(['Read', 'Bash', 'Agent']);
});
