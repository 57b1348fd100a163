/** Returns whether a text is a reminder that ouro added to a user message. */
export function isSystemReminder(text: string): boolean {
  return text.startsWith('<reminder>');
}
