import { test } from 'vitest';
import { isWholeRun } from './runs.ts';

/** A test for complete runs; a shorter one covers the same behaviour in quick runs. */
export const longTest = test.runIf(isWholeRun);
