import { test } from 'vitest';
import { isWholeRun } from './runs.ts';

/** A test for whole runs: somebody who waits has a shorter one of the same promise. */
export const longTest = test.runIf(isWholeRun);
