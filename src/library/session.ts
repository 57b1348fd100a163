/** `ouro/session`: conversations on disk, as JSON lines that survive a crash. */
export type { Message } from '../contracts/message.ts';
export { openSession, readMessages, type SessionPlace, type StoredSession } from './session-file.ts';
