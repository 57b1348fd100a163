import { expect, test } from 'vitest';
import { packTarGz } from '../../../bin/tar.mjs';
import { readTarGz } from '../../../src/lib/files/tar.ts';

const FILES = [
  { name: 'ouro', mode: 0o755, content: Buffer.alloc(70_000, 7) },
  { name: 'empty', mode: 0o644, content: Buffer.alloc(0) },
  { name: 'LICENSE', mode: 0o644, content: Buffer.from('Öffentlich\n') },
];

test('an archive has the files that were packed', () => {
  const read = [...readTarGz(packTarGz(FILES))].map(([name, content]) => [name, Buffer.from(content)]);
  expect(read).toEqual(FILES.map(({ name, content }) => [name, content]));
});

test('half an archive is refused, wherever it ends', () => {
  const whole = packTarGz(FILES);
  for (const length of [0, 10, Math.floor(whole.length / 2), whole.length - 1])
    expect(() => readTarGz(whole.subarray(0, length))).toThrow();
});
