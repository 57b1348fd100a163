import { expect, test } from 'vitest';
test('arithmetic', () => { expect(1 + 1).toBe(2); });
