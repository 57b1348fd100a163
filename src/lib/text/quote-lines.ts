/** The bar before each line of a quotation. */
export const QUOTE_BAR = '│ ';

/** Returns a question with the server that asks it, if one does, and the text that it quotes below. */
export function joinQuote(
  { question, quote }: { readonly question: string; readonly quote?: string | undefined },
  server?: string,
): string {
  const asked = server === undefined ? question : `The MCP server ${server} asks. ${question}`;
  return quote === undefined ? asked : `${asked}\n\n${quoteLines(quote)}`;
}

/** Puts a bar before each line. */
export function quoteLines(text: string): string {
  return text
    .split('\n')
    .map((line) => `${QUOTE_BAR}${line}`)
    .join('\n');
}
