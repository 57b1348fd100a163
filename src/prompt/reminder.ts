/** Wraps a text of ouro for the model in reminder tags; tags inside the text are defused. */
export function wrapInReminder(text: string): string {
  return `<reminder>\n${text.trim().replaceAll(/<(\/?)\s*reminder\b/gi, '<$1 reminder')}\n</reminder>`;
}
