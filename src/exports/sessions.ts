/** Stored sessions: their paths, their records and messages, and what of them stays private. */

export {
  type AssistantMessage,
  type ImageBlock,
  isTypedByUser,
  type Message,
  type ResultBlock,
  type TextBlock,
  type ToolResultBlock,
  type ToolUseBlock,
  type UserMessage,
} from '../contracts/message.ts';
export type { SessionRecordBody } from '../contracts/session.ts';
export { diskAppendFs } from '../lib/files/append-fs.ts';
export { getProjectDir, getTranscriptPath } from '../session/paths.ts';
export { parseSessionRecords } from '../session/records/parse-session-records.ts';
export { createSessionRecordWriter } from '../session/records/session-record-writer.ts';
export { removeRecordedPermissions } from '../session/records/session-settings.ts';
export { redactPersonalNames } from '../session/redact-personal-names.ts';
export { readSessionSummary } from '../session/store/session-summary.ts';
