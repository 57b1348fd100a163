import { createHash } from 'node:crypto';

/** The id of the line that tells a block of a reply: always the same for the same block, in every process. */
export function lineUuid(messageId: string, index: number): string {
  const hex = createHash('sha256').update(`${messageId}/${index}`).digest('hex');
  return `${hex.slice(0, 8)}-${hex.slice(8, 12)}-8${hex.slice(13, 16)}-a${hex.slice(17, 20)}-${hex.slice(20, 32)}`;
}
