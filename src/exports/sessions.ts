/** Stored sessions: their paths, their records, and what of them stays private. */

export { getProjectDir, getTranscriptPath } from '../session/paths.ts';
export { parseSessionRecords } from '../session/records/parse-session-records.ts';
export { removeRecordedPermissions } from '../session/records/session-settings.ts';
export { redactPersonalNames } from '../session/redact-personal-names.ts';
export { readSessionSummary } from '../session/store/session-summary.ts';
