import { createDecisions, readDecisions } from '../../context/decisions.ts';
import type { JsonObject } from '../../contracts/json.ts';
import type { Message } from '../../contracts/message.ts';
import { EFFORTS, type Effort, type ModelRequest } from '../../contracts/model.ts';
import { NOTHING_STRIPPED, type Stripped } from '../../contracts/query.ts';
import type { SessionRecord } from '../../contracts/session.ts';
import { queryDeps } from '../../engine/defaults.ts';
import { buildRequest } from '../../engine/request.ts';
import { createReplayPort } from '../../model/replay.ts';
import { requestBytes } from '../../model/wire/to-wire.ts';
import { EMPTY_CONVERSATION, messagesOf, nextConversation } from '../../session/records/conversation-state.ts';
import { createDigestReader, digestOf, type RequestDigest, wholeDigest } from '../../session/request-digest.ts';
import { NO_HEAD, nextHead, parseHead, type RecordedHead } from '../../session/request-head.ts';

/** What came of a replay: how many requests came out the same, and the first that did not. */
export type Replay = { readonly requests: number; readonly difference?: Difference };

export type Difference = {
  /** Counted from one. */
  readonly request: number;
  readonly where: string;
  /** What stands there now, as far as it can be shown. */
  readonly now: string;
};

/** Builds every request of a session anew from what its record held at that moment, and compares the bytes. */
export function replaySession(records: readonly SessionRecord[]): Replay {
  let requests = 0;
  for (const { recorded, builds } of walkRequests(records)) {
    requests += 1;
    if (recorded === undefined) return { requests, difference: unreadable(requests) };
    if (sameBuild(recorded, builds) !== undefined) continue;
    return { requests, difference: firstDifference(requests, recorded, builds[0] ?? '') };
  }
  return { requests };
}

/** A request on record, and the ways it may be built today. */
export type Walked = {
  readonly record: SessionRecord;
  readonly recorded: RequestDigest | undefined;
  readonly builds: readonly string[];
  /** What each of them leaves out. */
  readonly stripped: readonly Stripped[];
  /** The conversation as it stood then, and what its requests begin with. */
  readonly messages: readonly Message[];
  readonly prompt: RecordedHead | undefined;
};

export function* walkRequests(records: readonly SessionRecord[]): Generator<Walked, void> {
  let conversation = EMPTY_CONVERSATION;
  let head = NO_HEAD;
  const decisions = createDecisions();
  const read = createDigestReader();
  /** What the API refused once may have been left out; nothing else makes a request differ from its conversation. */
  let ways: readonly Stripped[] = [NOTHING_STRIPPED];
  for (const record of records) {
    conversation = nextConversation(conversation, record);
    head = nextHead(head, record);
    if (record.type !== 'system') continue;
    if (record.subtype === 'recovery_end' && record.data.recovery === 'healed') ways = waysAfter(ways, record.data);
    if (record.subtype === 'context') for (const one of readDecisions([record.data])) decisions.record(one);
    if (record.subtype !== 'request') continue;
    const recorded = read(record.data);
    const messages = messagesOf(conversation);
    const prompt = head.head;
    const view = visible(messages).flatMap((message) => decisions.viewOf(message) ?? []);
    const build = (stripped: Stripped) => requestBytes(rebuilt(view, recorded?.rest ?? {}, prompt, stripped));
    yield { record, recorded, builds: ways.map(build), stripped: ways, messages, prompt };
  }
}

const MOST_WAYS = 16;

function waysAfter(ways: readonly Stripped[], { detail, until, refused }: JsonObject): readonly Stripped[] {
  // A resume begins without either, so both stay possible.
  if (detail === 'thinking') return [...ways, ...ways.map((way) => ({ ...way, thinking: true }))].slice(0, 4);
  if (Array.isArray(refused)) {
    const marks = refused.map(String);
    const after = ways.map((way) => ({ ...way, refused: [...way.refused, ...marks] }));
    return [...ways.filter((way) => way.refused.length === 0), ...after].slice(-MOST_WAYS);
  }
  const whole = ways.filter(({ images }) => images === undefined);
  return [...whole, ...whole.map((way) => ({ ...way, images: String(until) }))];
}

/** Which of them is the recorded one, byte for byte. */
export function sameBuild(recorded: RequestDigest, builds: readonly string[]): number | undefined {
  const at = builds.findIndex((bytes) => wholeDigest(bytes) === recorded.whole);
  return at === -1 ? undefined : at;
}

/** What stands behind the last summary. */
export function visible(messages: readonly Message[]): readonly Message[] {
  return messages.slice(
    Math.max(
      0,
      messages.findLastIndex(({ role }) => role === 'boundary'),
    ),
  );
}

/** The request as it is built today for the settings that are on record. */
function rebuilt(
  view: readonly Message[],
  rest: JsonObject,
  prompt: RecordedHead | undefined,
  stripped: Stripped,
): ModelRequest {
  const head = prompt === undefined ? { system: [], tools: [] } : parseHead(prompt);
  const deps = queryDeps({
    model: createReplayPort([]),
    config: { ...requestConfig(rest), chain: [{ model: String(rest.model) }] },
    toolSpecs: () => head.tools,
  });
  const state = { modelIndex: 0, maxOutputTokensOverride: Number(rest.maxOutputTokens), stripped };
  return buildRequest(view, state, { ...deps, system: () => head.system });
}

/** The settings a request was made with. */
export function requestConfig(rest: JsonObject) {
  return {
    effort: effortOf(rest.effort),
    thinkingBudgetTokens: typeof rest.thinkingBudgetTokens === 'number' ? rest.thinkingBudgetTokens : undefined,
    betas: Array.isArray(rest.betas) ? rest.betas.map(String) : [],
  };
}

function effortOf(value: unknown): Effort {
  return EFFORTS.find((effort) => effort === value) ?? 'off';
}

function unreadable(request: number): Difference {
  return { request, where: 'its record cannot be read', now: '' };
}

const SHOWN_CHARS = 400;

/** Where a request begins to be another one. */
export function firstDifference(request: number, recorded: RequestDigest, bytes: string): Difference {
  const now = digestOf(bytes);
  const parts: { readonly [name: string]: unknown } = JSON.parse(bytes);
  const show = (value: unknown) => (JSON.stringify(value) ?? 'nothing').slice(0, SHOWN_CHARS);
  for (const name of ['system', 'tools'] as const) {
    if (recorded[name] !== now[name]) return { request, where: name, now: show(parts[name]) };
  }
  const messages = Array.isArray(parts.messages) ? parts.messages : [];
  const at = Array.from({ length: Math.max(recorded.messages.length, now.messages.length) }).findIndex(
    (_, index) => recorded.messages[index] !== now.messages[index],
  );
  if (at !== -1) return { request, where: `message ${at + 1}`, now: show(messages[at]) };
  const names = [...new Set([...Object.keys(recorded.rest), ...Object.keys(now.rest)])];
  const name = names.find((one) => JSON.stringify(recorded.rest[one]) !== JSON.stringify(now.rest[one]));
  return { request, where: name ?? 'the order of its fields', now: name === undefined ? '' : show(now.rest[name]) };
}
