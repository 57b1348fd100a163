import { randomUUID } from 'node:crypto';
import { tmpdir } from 'node:os';
import { expect, test } from 'vitest';
import { createPipedProgram } from '../../../src/lib/processes/piped-program.ts';
import { startUnchecked } from '../../../src/lib/processes/program-check.ts';

/** Starts a shell script that prints a line when it is ready. */
async function startScript(script: string) {
  const ready = Promise.withResolvers<void>();
  const ended = Promise.withResolvers<string | undefined>();
  const program = createPipedProgram(
    {
      command: 'sh',
      args: ['-c', script],
      cwd: tmpdir(),
      env: { PATH: process.env.PATH ?? '' },
      marker: randomUUID(),
      ledger: undefined,
      check: startUnchecked,
      use: 'writes',
    },
    {
      onStdout: () => ready.resolve(),
      onStderr: () => undefined,
      onEnd: () => ended.resolve(program.getEndReason()),
    },
  );
  await program.start();
  return { program, ready: ready.promise, ended: ended.promise };
}

test.each([
  ['closed its input', 'closed its input', 'exec 0<&-; echo ready; exec sleep 600'],
  ['closed its input after it has read a line', 'closed its input', 'read line; exec 0<&-; echo ready; exec sleep 600'],
  ['exited', 'ended with exit code 3', 'echo ready; exit 3'],
])('a write to a program that %s ends it and rejects', async (_, reason, script) => {
  const { program, ready, ended } = await startScript(script);
  if (script.startsWith('read')) await program.write('first\n');
  await ready;
  // A process that another thread starts may hold the other end of the pipe until it executes its program.
  const writing = (async () => {
    for (;;) {
      await program.write('second\n');
      await new Promise((resolve) => setImmediate(resolve));
    }
  })();
  await expect(writing).rejects.toThrow();
  expect(await ended).toBe(reason);
  await expect(program.write('third\n')).rejects.toThrow(reason);
});

test('a program that closes its output is ended', async () => {
  const { ended } = await startScript('exec 1>&-; exec sleep 600');
  expect(await ended).toBe('closed its output');
});

test('a program that reads slowly gets everything', async () => {
  const { program, ended } = await startScript('test "$(wc -c)" -eq 3000000; exit $?');
  await program.write('x'.repeat(3_000_000));
  await program.close();
  expect(await ended).toBe('ended with exit code 0');
});
