import type { Message } from '../../contracts/message.ts';

/** The conversation up to this message, looked for in the newest version first; `undefined` when none holds it. */
export function cutBefore(
  messageId: string,
  versions: readonly (readonly Message[])[],
): readonly Message[] | undefined {
  for (const messages of versions) {
    const at = messages.findIndex((message) => message.id === messageId);
    if (at !== -1) return messages.slice(0, at);
  }
  return undefined;
}
