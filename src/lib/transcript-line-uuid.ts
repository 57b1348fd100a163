import { createHash } from 'node:crypto';

/** Returns the id of the line for one block of a reply: a UUID derived from message id and index. */
export function createTranscriptLineUuid(messageId: string, index: number): string {
  const hex = createHash('sha256').update(`${messageId}/${index}`).digest('hex');
  return `${hex.slice(0, 8)}-${hex.slice(8, 12)}-8${hex.slice(13, 16)}-a${hex.slice(17, 20)}-${hex.slice(20, 32)}`;
}
