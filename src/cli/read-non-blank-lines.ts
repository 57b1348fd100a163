/** A line of a stream with its number, counted from 1. */
export type NumberedLine = { readonly number: number; readonly text: string };

/** Yields the non-blank lines of a byte stream, including a last line without newline. */
export async function* readNonBlankLines(chunks: AsyncIterable<Uint8Array>): AsyncGenerator<NumberedLine, void> {
  const decoder = new TextDecoder();
  let number = 0;
  let parts: string[] = [];
  for await (const chunk of chunks) {
    const pieces = decoder.decode(chunk, { stream: true }).split('\n');
    const [first = '', ...rest] = pieces;
    parts.push(first);
    for (const piece of rest) {
      number += 1;
      const text = parts.join('');
      parts = [piece];
      if (text.trim() !== '') yield { number, text };
    }
  }
  const text = [...parts, decoder.decode()].join('');
  if (text.trim() !== '') yield { number: number + 1, text };
}
