const MAX_LINE_CHARS = 160;

/** Names and subjects were written by anybody: one line each, no control characters, not too long. */
export function oneLine(text: string): string {
  const line = text.replace(/[\u0000-\u001f\u007f-\u009f\u2028\u2029]+/g, ' ').toWellFormed();
  return line.length > MAX_LINE_CHARS ? `${line.slice(0, MAX_LINE_CHARS).toWellFormed()}…` : line;
}
