import { spawnSync } from 'node:child_process';
import { expect, test } from 'vitest';
import { readStartTimeFromPs } from '../../../src/lib/processes/process-info.ts';

test('ps gives a process the same start time each time, in five words of English, and one that has exited none', () => {
  const exited = spawnSync('/bin/true').pid;
  const [first, second] = [readStartTimeFromPs(process.pid), readStartTimeFromPs(process.pid)];
  expect(first).toMatch(/^(?:Mon|Tue|Wed|Thu|Fri|Sat|Sun) [A-Z][a-z]{2} \d{1,2} \d\d:\d\d:\d\d \d{4}$/);
  expect([second, readStartTimeFromPs(exited)]).toEqual([first, undefined]);
});
