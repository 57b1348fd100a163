import { expect, test } from 'vitest';
import manifest from '../../package.json' with { type: 'json' };
import { VERSION } from '../../src/library/version.ts';

test('the library knows the version of its package', () => {
  expect(VERSION).toBe(manifest.version);
});
