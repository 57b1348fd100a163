import { isJsonObject, type JsonObject, type JsonValue } from '../contracts/json.ts';
import type { RecordBody, SessionRecord } from '../contracts/session.ts';

/** What a session was set to when it ended. Values are as written: whoever restores them checks them. */
export type Kept = {
  /** Model choice, effort, mode, cwd, todos, plan and whatever else changed while it ran; the newest of each. */
  readonly live: JsonObject;
  /** Permission rules granted for this session. */
  readonly rules: readonly string[];
  /** The rendered system prompt and tool texts of the last request, and the version that rendered them. */
  readonly prompt: KeptPrompt | undefined;
  readonly texts: ReadonlyMap<string, string>;
};

export type KeptPrompt = { readonly system: string; readonly tools: string; readonly version: string };

export function emptyKept(): Kept {
  return { live: {}, rules: [], prompt: undefined, texts: new Map() };
}

/** A change of settings while a session runs, as it is written down. */
export function liveRecord(changed: JsonObject): RecordBody {
  return { type: 'system', subtype: 'live', data: changed };
}

/** What one record changes about what is kept. */
export function keepState(kept: Kept, record: SessionRecord): Kept {
  if (record.type === 'prompt-text') return { ...kept, texts: new Map([...kept.texts, [record.hash, record.text]]) };
  if (record.type !== 'system') return kept;
  const { data } = record;
  switch (record.subtype) {
    case 'live':
      return { ...kept, live: { ...kept.live, ...data } };
    case 'mode':
      return { ...kept, live: { ...kept.live, mode: data.mode } };
    case 'permission_answer':
      return { ...kept, rules: [...new Set([...kept.rules, ...grantedRules(data.answer)])] };
    case 'prompt': {
      const { system, tools } = data;
      const texts = [kept.texts.get(String(system)), kept.texts.get(String(tools))];
      const [systemText, toolsText] = texts;
      if (systemText === undefined || toolsText === undefined) return kept;
      return { ...kept, prompt: { system: systemText, tools: toolsText, version: record.version } };
    }
    default:
      return kept;
  }
}

function grantedRules(answer: JsonValue | undefined): readonly string[] {
  if (!isJsonObject(answer) || answer.behavior !== 'allow') return [];
  const remember = answer.remember;
  if (!isJsonObject(remember) || remember.destination !== 'session' || !Array.isArray(remember.rules)) return [];
  return remember.rules.filter((rule) => typeof rule === 'string');
}
