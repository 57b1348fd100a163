/** Text as a Markdown block of code that nothing in it can end. */
export function fenced(text: string): string {
  let fence = '```';
  for (const [, ticks = ''] of text.matchAll(/^ *(`{3,})/gm)) if (ticks.length >= fence.length) fence = `${ticks}\``;
  return `${fence}\n${text}\n${fence}`;
}
