import { expect, test } from 'vitest';
import { isInExecutable } from '../../../src/lib/processes/installed-files.ts';

test.each([
  ['/$bunfs/root/chunk-2wje4ffw.js', true],
  ['B:\\~BUN\\root\\chunk-2wje4ffw.js', true],
  ['/home/ada/ouro/src/lib/processes/installed-files.ts', false],
  ['C:\\Users\\~BUNNY\\ouro\\dist\\main.js', false],
])('%s is in an executable: %s', (path, expected) => {
  expect(isInExecutable(path)).toBe(expected);
});
