import { findIdenticalRequestBuild, rebuildRequests } from '../../agent/replay/rebuild-requests.ts';
import type { JsonValue } from '../../contracts/json.ts';
import type { SessionRecord, SessionRecordBody } from '../../contracts/session.ts';
import { copyAsJson } from '../../lib/json.ts';
import { parseSessionRecords } from '../../session/records/parse-session-records.ts';
import { type PersonalNames, redactPersonalNames } from '../../session/redact-personal-names.ts';
import { createRequestDigestEncoder, digestRequest, type RequestDigest } from '../../session/request-digest.ts';

/** Creates a capsule: the session as a file for bug reports, redacted, with the same result when it is replayed. */
export function createBugReportCapsule(records: readonly SessionRecord[], who: PersonalNames): string {
  const clean = redactRecords(records, who);
  const digests = new Map<string, SessionRecordBody>();
  const writeDigest = createRequestDigestEncoder();
  const cleanRequests = rebuildRequests(clean);
  for (const { record, recorded, builds } of rebuildRequests(records)) {
    const cleanRequest = cleanRequests.next().value;
    if (recorded === undefined || cleanRequest === undefined) continue;
    const match = findIdenticalRequestBuild(recorded, builds) ?? 0;
    const built = digestRequest(builds[match] ?? '');
    const cleanBuilt = digestRequest(cleanRequest.builds[match] ?? '');
    digests.set(record.uuid, writeDigest(transferDigest(recorded, built, cleanBuilt)));
  }
  return clean.map((record) => `${JSON.stringify({ ...record, ...digests.get(record.uuid) })}\n`).join('');
}

/** Redacts the text of a session file, so that it can leave this machine. */
export function redactTranscript(text: string, who: PersonalNames): string {
  return createBugReportCapsule(parseSessionRecords(text).records, who);
}

/** Computes the digest for the redacted request: parts that matched the record match again, the others still differ. */
function transferDigest(recorded: RequestDigest, built: RequestDigest, clean: RequestDigest): RequestDigest {
  const pick = (name: 'whole' | 'system' | 'tools') => (recorded[name] === built[name] ? clean[name] : recorded[name]);
  const messages = recorded.messages.map((hash, at) =>
    hash === built.messages[at] ? (clean.messages[at] ?? hash) : hash,
  );
  return { whole: pick('whole'), rest: recorded.rest, system: pick('system'), tools: pick('tools'), messages };
}

function redactRecords(records: readonly SessionRecord[], who: PersonalNames): readonly SessionRecord[] {
  const lines = records.map((record) => {
    const json = copyAsJson(record);
    // Text that contains JSON is parsed first, so that values are redacted and not their escaped form.
    const text =
      record.type === 'prompt-text' ? JSON.stringify(redactPersonalNames(parseJson(record.text), who)) : undefined;
    return JSON.stringify({ ...asObject(redactPersonalNames(json, who)), ...(text === undefined ? {} : { text }) });
  });
  return parseSessionRecords(lines.join('\n')).records;
}

function asObject(value: JsonValue): object {
  return typeof value === 'object' && value !== null ? value : {};
}

function parseJson(text: string): JsonValue {
  try {
    return JSON.parse(text);
  } catch {
    return text;
  }
}
