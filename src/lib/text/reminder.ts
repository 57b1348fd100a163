/** Wraps a text of ouro for the model in reminder tags; tags inside the text are defused. */
export function wrapInReminder(text: string): string {
  return `<reminder>\n${text.trim().replaceAll(/<(\/?)\s*reminder\b/gi, '<$1 reminder')}\n</reminder>`;
}

/** Returns whether a text is a reminder that ouro added to a user message. */
export function isSystemReminder(text: string): boolean {
  return text.startsWith('<reminder>');
}
