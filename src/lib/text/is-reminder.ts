/** Words of ours that travel with somebody's message: nothing a person has typed. */
export function isReminder(text: string): boolean {
  return text.startsWith('<reminder>');
}
