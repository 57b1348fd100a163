import { expect, test } from 'vitest';
import { createSpecOrder } from '../../src/tools/spec-order.ts';

const specs = (...names: readonly string[]) => names.map((name) => ({ name, description: '', input_schema: {} }));
const names = (given: ReturnType<typeof specs>) => given.map(({ name }) => name);

test('tools keep their places, new ones come last, and those that return stand where they stood', () => {
  const inOrder = createSpecOrder(specs('Read', 'Write'));
  const sent = (...given: readonly string[]) => names([...inOrder(specs(...given))]);
  expect(sent('Bash', 'Read', 'Write')).toEqual(['Read', 'Write', 'Bash']);
  expect(sent('Agent', 'Bash', 'Read', 'Write')).toEqual(['Read', 'Write', 'Bash', 'Agent']);
  expect(sent('Agent', 'Read')).toEqual(['Read', 'Agent']);
  expect(sent('Read', 'Bash', 'Agent')).toEqual(['Read', 'Bash', 'Agent']);
});
