import type { Io } from '../io.ts';

/** A question that is answered with one key and Enter; anything but y is no. */
export async function ask({ stdin, stderr }: Io, question: string): Promise<boolean> {
  stderr.write(`${question} [y/N] `);
  for await (const chunk of stdin.chunks()) return /^\s*y(?:es)?\s*$/i.test(Buffer.from(chunk).toString('utf8'));
  return false;
}
