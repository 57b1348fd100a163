import { isJsonObject, type JsonObject, type JsonValue } from '../../contracts/json.ts';
import type { SessionRecord } from '../../contracts/session.ts';

/** A call that was refused in an earlier run, with the words the model was told. */
export type EarlierRefusal = {
  readonly tool: string;
  readonly callId: string;
  readonly input: JsonObject;
  readonly reason: string;
  readonly trace: JsonValue;
};

/** Every refusal on record, in order. */
export function refusalsOf(records: readonly SessionRecord[]): readonly EarlierRefusal[] {
  const inputs = new Map<string, JsonObject>();
  const words = new Map<string, string>();
  for (const record of records) {
    if (record.type === 'assistant' && record.block.type === 'tool_use' && isJsonObject(record.block.input))
      inputs.set(record.block.id, record.block.input);
    if (record.type === 'result' && typeof record.result.content === 'string')
      words.set(record.callId, record.result.content);
  }
  return records.flatMap((record) => {
    if (record.type !== 'permission' || record.verdict !== 'deny') return [];
    const { callId, tool, trace } = record;
    return [{ tool, callId, trace, input: inputs.get(callId) ?? {}, reason: words.get(callId) ?? '' }];
  });
}
