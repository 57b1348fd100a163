import { execFileSync } from 'node:child_process';
import { join } from 'node:path';
import { expect, test } from 'vitest';

const SOURCE = join(import.meta.dirname, '../../../src/lib/processes/run-program.ts');

test('programs run without Set.prototype.union, several at once, and the method is removed again', () => {
  const program = `
    delete Set.prototype.union;
    const { runProgram } = await import(${JSON.stringify(SOURCE)});
    const echo = async (word) => String((await runProgram('/bin/echo', [word], { timeoutMs: 5_000 })).stdout);
    const words = [...(await Promise.all(['one', 'two'].map(echo))), await echo('three')];
    console.log(JSON.stringify([words, 'union' in Set.prototype]));
  `;
  const answer = execFileSync(process.execPath, ['-e', program], { encoding: 'utf8' });
  expect(JSON.parse(answer)).toEqual([['one\n', 'two\n', 'three\n'], false]);
});
