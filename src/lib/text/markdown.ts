/** Formats a text as a Markdown code block, with a fence longer than any fence in the text. */
export function formatCodeBlock(text: string): string {
  let fence = '```';
  for (const [, ticks = ''] of text.matchAll(/^ *(`{3,})/gm)) if (ticks.length >= fence.length) fence = `${ticks}\``;
  return `${fence}\n${text}\n${fence}`;
}

/** Formats rows as a Markdown table with padded columns. The first row is the header. */
export function formatMarkdownTable(rows: readonly (readonly string[])[]): readonly string[] {
  const [header = [], ...body] = rows.map((row) => row.map((cell) => cell.replaceAll('|', '\\|')));
  const widths = header.map((_, column) => Math.max(3, ...[header, ...body].map((row) => row[column]?.length ?? 0)));
  const formatRow = (cells: readonly string[], fill: string) =>
    `| ${widths.map((width, at) => (cells[at] ?? '').padEnd(width, fill)).join(' | ')} |`;
  return [formatRow(header, ' '), formatRow([], '-'), ...body.map((row) => formatRow(row, ' '))];
}
