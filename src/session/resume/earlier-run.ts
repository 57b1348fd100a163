import { isJsonObject, type JsonObject, type JsonValue } from '../../contracts/json.ts';
import type { SessionRecord } from '../../contracts/session.ts';

/** A tool call denied in an earlier run, with the reason given to the model. */
export type RecordedDenial = {
  readonly tool: string;
  readonly callId: string;
  readonly input: JsonObject;
  readonly reason: string;
  readonly trace: JsonValue;
};

/** Returns every recorded denial in order. */
export function listRecordedDenials(records: readonly SessionRecord[]): readonly RecordedDenial[] {
  const inputs = new Map<string, JsonObject>();
  const reasons = new Map<string, string>();
  for (const record of records) {
    if (record.type === 'assistant' && record.block.type === 'tool_use' && isJsonObject(record.block.input))
      inputs.set(record.block.id, record.block.input);
    if (record.type === 'result' && typeof record.result.content === 'string')
      reasons.set(record.callId, record.result.content);
  }
  return records.flatMap((record) => {
    if (record.type !== 'permission' || record.verdict !== 'deny') return [];
    const { callId, tool, trace } = record;
    return [{ tool, callId, trace, input: inputs.get(callId) ?? {}, reason: reasons.get(callId) ?? '' }];
  });
}

/** Subtype of the record that lists background tasks stopped by the end of a run. */
export const TASKS_ENDED_WITH_RUN = 'ended_with_run';

/** Returns the titles of background tasks that ended with the last run; empty once the user has written since. */
export function listTasksEndedWithRun(records: readonly SessionRecord[]): readonly string[] {
  const lastPrompt = records.findLastIndex(({ type }) => type === 'user');
  return records.slice(lastPrompt + 1).flatMap((record) => {
    if (record.type !== 'system' || record.subtype !== TASKS_ENDED_WITH_RUN) return [];
    const { titles } = record.data;
    return Array.isArray(titles) ? titles.map(String) : [];
  });
}
