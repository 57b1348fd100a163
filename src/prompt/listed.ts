/** Something the model may call by name. */
export type Listed = { readonly name: string; readonly description: string };

const DESCRIPTION_CHARS = [250, 100, 40, 0];

/** Names and descriptions within a budget: descriptions get shorter first, then names are left out and counted. */
export function renderList(title: string, items: readonly Listed[], budgetChars: number): string {
  if (items.length === 0) return '';
  const sorted = items.toSorted((one, other) => (one.name < other.name ? -1 : 1));
  for (const chars of DESCRIPTION_CHARS) {
    const lines = sorted.map((item) => lineOf(item, chars));
    if (lines.join('\n').length <= budgetChars) return `# ${title}\n${lines.join('\n')}`;
  }
  let room = budgetChars;
  const names = sorted
    .map((item) => lineOf(item, 0))
    .filter((line) => {
      room -= line.length + 1;
      return room >= 0;
    });
  return `# ${title}\n${[...names, `- and ${sorted.length - names.length} more, not listed here`].join('\n')}`;
}

function lineOf({ name, description }: Listed, chars: number): string {
  const words = description.replace(/\s+/g, ' ').trim();
  if (chars === 0 || words === '') return `- ${name}`;
  return `- ${name}: ${words.length > chars ? `${words.slice(0, chars - 1).toWellFormed()}…` : words}`;
}
