import { expect, test } from 'vitest';
import { EVERYDAY } from './corpus/everyday.ts';
import { decideBash, makeFixture } from './fixture.ts';

const fixture = makeFixture();
const commands = Object.values(EVERYDAY).flat();

test('three of four everyday commands run unasked', () => {
  const asked = commands.filter((command) => decideBash(fixture, command).verdict !== 'allow');
  expect(commands.length).toBeGreaterThan(150);
  expect(1 - asked.length / commands.length).toBeGreaterThanOrEqual(0.75);
});
