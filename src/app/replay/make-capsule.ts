import type { JsonValue } from '../../contracts/json.ts';
import type { RecordBody, SessionRecord } from '../../contracts/session.ts';
import { asJson } from '../../lib/as-json.ts';
import { readRecords } from '../../session/records/read-records.ts';
import { type Private, redactJson } from '../../session/records/redact.ts';
import { createDigestWriter, digestOf, type RequestDigest } from '../../session/request-digest.ts';
import { sameBuild, walkRequests } from './replay-session.ts';

/** A session as one file for a bug report: without secrets, and with the same result when it is replayed. */
export function makeCapsule(records: readonly SessionRecord[], who: Private): string {
  const clean = redacted(records, who);
  const digests = new Map<string, RecordBody>();
  const write = createDigestWriter();
  const cleanRequests = walkRequests(clean);
  for (const { record, recorded, builds } of walkRequests(records)) {
    const twin = cleanRequests.next().value;
    if (recorded === undefined || twin === undefined) continue;
    const same = sameBuild(recorded, builds) ?? 0;
    digests.set(record.uuid, write(carried(recorded, digestOf(builds[same] ?? ''), digestOf(twin.builds[same] ?? ''))));
  }
  return clean.map((record) => `${JSON.stringify({ ...record, ...digests.get(record.uuid) })}\n`).join('');
}

/** A stored session as it may leave this machine: the text of its file, without secrets. */
export function scrubbedTranscript(text: string, who: Private): string {
  return makeCapsule(readRecords(text).records, who);
}

/** What was as recorded stays so without its secrets; what was not stays different. */
function carried(recorded: RequestDigest, built: RequestDigest, clean: RequestDigest): RequestDigest {
  const pick = (name: 'whole' | 'system' | 'tools') => (recorded[name] === built[name] ? clean[name] : recorded[name]);
  const messages = recorded.messages.map((hash, at) =>
    hash === built.messages[at] ? (clean.messages[at] ?? hash) : hash,
  );
  return { whole: pick('whole'), rest: recorded.rest, system: pick('system'), tools: pick('tools'), messages };
}

function redacted(records: readonly SessionRecord[], who: Private): readonly SessionRecord[] {
  const lines = records.map((record) => {
    const plain = asJson(record);
    // A text that is JSON itself is redacted as what it says, not as how it is spelled.
    const text = record.type === 'prompt-text' ? JSON.stringify(redactJson(parsed(record.text), who)) : undefined;
    return JSON.stringify({ ...asObject(redactJson(plain, who)), ...(text === undefined ? {} : { text }) });
  });
  return readRecords(lines.join('\n')).records;
}

function asObject(value: JsonValue): object {
  return typeof value === 'object' && value !== null ? value : {};
}

function parsed(text: string): JsonValue {
  try {
    return JSON.parse(text);
  } catch {
    return text;
  }
}
