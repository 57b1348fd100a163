/** Words of ours for the model. Tags inside cannot close them early. */
export function reminder(words: string): string {
  return `<reminder>\n${words.trim().replaceAll(/<(\/?)\s*reminder\b/gi, '<$1 reminder')}\n</reminder>`;
}
