/** More than this, written out as base64, terminals are known to refuse. */
const MOST_BYTES = 56_244;

/** Asks the terminal to put text into the clipboard of whoever sits in front of it. */
export function copySequence(text: string): string {
  return `\u001b]52;c;${Buffer.from(text, 'utf8').subarray(0, MOST_BYTES).toString('base64')}\u0007`;
}
