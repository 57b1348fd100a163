import { createReductionLog, parseReductions } from '../../context/reduction-log.ts';
import type { JsonObject } from '../../contracts/json.ts';
import type { Message } from '../../contracts/message.ts';
import { EFFORTS, type Effort, type ModelRequest } from '../../contracts/model.ts';
import { type ExcludedContent, NO_EXCLUDED_CONTENT } from '../../contracts/query.ts';
import type { SessionRecord } from '../../contracts/session.ts';
import { completeQueryDeps } from '../../engine/default-deps.ts';
import { buildModelRequest } from '../../engine/request/build-model-request.ts';
import { serializeModelRequest } from '../../model/providers/anthropic/messages-request.ts';
import { createReplayPort } from '../../model/record-replay.ts';
import {
  EMPTY_CONVERSATION,
  listConversationMessages,
  reduceConversation,
} from '../../session/records/conversation-state.ts';
import {
  createRequestDigestDecoder,
  digestRequest,
  hashRequest,
  type RequestDigest,
} from '../../session/request-digest.ts';
import {
  INITIAL_REQUEST_HEAD_STATE,
  parseRecordedRequestHead,
  type RecordedRequestHead,
  reduceRequestHead,
} from '../../session/request-head.ts';

/** The result of a replay: the number of compared requests, and the first difference. */
export type RequestComparisonResult = { readonly requests: number; readonly difference?: ReplayDifference };

/** The first difference between a recorded request and the rebuilt one. */
export type ReplayDifference = {
  /** Number of the request, from 1. */
  readonly request: number;
  readonly where: string;
  /** Beginning of the rebuilt value. */
  readonly now: string;
};

/** Rebuilds every request of a session from the records before it, and compares the bytes. */
export function compareRebuiltRequests(records: readonly SessionRecord[]): RequestComparisonResult {
  let requests = 0;
  for (const { recorded, builds } of rebuildRequests(records)) {
    requests += 1;
    if (recorded === undefined) return { requests, difference: createUnreadableDifference(requests) };
    if (findIdenticalRequestBuild(recorded, builds) !== undefined) continue;
    return { requests, difference: findFirstReplayDifference(requests, recorded, builds[0] ?? '') };
  }
  return { requests };
}

/** A recorded request, with the variants in which it can be rebuilt. */
export type RebuiltRequest = {
  readonly record: SessionRecord;
  readonly recorded: RequestDigest | undefined;
  readonly builds: readonly string[];
  /** Content that each variant excludes. */
  readonly excluded: readonly ExcludedContent[];
  /** Conversation at that moment, and the head of its requests. */
  readonly messages: readonly Message[];
  readonly prompt: RecordedRequestHead | undefined;
};

/** Walks through the recorded requests of a session. Each is a function of the records before it, as a resume needs. */
export function* rebuildRequests(records: readonly SessionRecord[]): Generator<RebuiltRequest, void> {
  let conversation = EMPTY_CONVERSATION;
  let head = INITIAL_REQUEST_HEAD_STATE;
  const decisions = createReductionLog();
  const readDigest = createRequestDigestDecoder();
  /** Variants of excluded content: nothing else makes a request differ from its conversation. */
  let variants: readonly ExcludedContent[] = [NO_EXCLUDED_CONTENT];
  for (const record of records) {
    conversation = reduceConversation(conversation, record);
    head = reduceRequestHead(head, record);
    if (record.type !== 'system') continue;
    if (record.subtype === 'recovery_end' && record.data.recovery === 'healed')
      variants = addVariants(variants, record.data);
    if (record.subtype === 'context') for (const decision of parseReductions([record.data])) decisions.record(decision);
    if (record.subtype !== 'request') continue;
    const recorded = readDigest(record.data);
    const messages = listConversationMessages(conversation);
    const prompt = head.head;
    const view = selectMessagesAfterBoundary(messages).flatMap((message) => decisions.applyTo(message) ?? []);
    const build = (stripped: ExcludedContent) =>
      serializeModelRequest(rebuildRequest(view, recorded?.rest ?? {}, prompt, stripped));
    yield { record, recorded, builds: variants.map(build), excluded: variants, messages, prompt };
  }
}

const MAX_VARIANTS = 16;

function addVariants(
  variants: readonly ExcludedContent[],
  { detail, until, refused }: JsonObject,
): readonly ExcludedContent[] {
  // A resumed session starts without exclusions, so the variants without them stay possible.
  if (detail === 'thinking')
    return [...variants, ...variants.map((variant) => ({ ...variant, thinking: true }))].slice(0, 4);
  if (Array.isArray(refused)) {
    const marks = refused.map(String);
    const extended = variants.map((variant) => ({ ...variant, refused: [...variant.refused, ...marks] }));
    return [...variants.filter((variant) => variant.refused.length === 0), ...extended].slice(-MAX_VARIANTS);
  }
  const withImages = variants.filter(({ images }) => images === undefined);
  return [...withImages, ...withImages.map((variant) => ({ ...variant, images: String(until) }))];
}

/** Returns the index of the build that is identical to the recorded request. */
export function findIdenticalRequestBuild(recorded: RequestDigest, builds: readonly string[]): number | undefined {
  const at = builds.findIndex((bytes) => hashRequest(bytes) === recorded.whole);
  return at === -1 ? undefined : at;
}

/** Returns the messages from the last boundary on. */
export function selectMessagesAfterBoundary(messages: readonly Message[]): readonly Message[] {
  return messages.slice(
    Math.max(
      0,
      messages.findLastIndex(({ role }) => role === 'boundary'),
    ),
  );
}

/** Rebuilds a request with the recorded settings. */
function rebuildRequest(
  view: readonly Message[],
  rest: JsonObject,
  prompt: RecordedRequestHead | undefined,
  excluded: ExcludedContent,
): ModelRequest {
  const head = prompt === undefined ? { system: [], tools: [] } : parseRecordedRequestHead(prompt);
  const deps = completeQueryDeps({
    model: createReplayPort([]),
    config: { ...parseRecordedRequestConfig(rest), chain: [{ model: String(rest.model) }] },
    toolSpecs: () => head.tools,
  });
  const state: Parameters<typeof buildModelRequest>[1] = {
    modelIndex: 0,
    maxOutputTokensOverride: Number(rest.maxOutputTokens),
    excluded,
  };
  return buildModelRequest(view, state, { ...deps, system: () => head.system });
}

/** Returns the query configuration that a recorded request was made with. */
export function parseRecordedRequestConfig(rest: JsonObject) {
  return {
    effort: parseEffort(rest.effort),
    thinkingBudgetTokens: typeof rest.thinkingBudgetTokens === 'number' ? rest.thinkingBudgetTokens : undefined,
    betas: Array.isArray(rest.betas) ? rest.betas.map(String) : [],
  };
}

function parseEffort(value: unknown): Effort {
  return EFFORTS.find((effort) => effort === value) ?? 'off';
}

function createUnreadableDifference(request: number): ReplayDifference {
  return { request, where: 'all parts (the record cannot be read)', now: '' };
}

const SHOWN_CHARS = 400;

/** Finds the first difference between a recorded request and rebuilt bytes. */
export function findFirstReplayDifference(request: number, recorded: RequestDigest, bytes: string): ReplayDifference {
  const now = digestRequest(bytes);
  const parts: { readonly [name: string]: unknown } = JSON.parse(bytes);
  const format = (value: unknown) => (JSON.stringify(value) ?? 'nothing').slice(0, SHOWN_CHARS);
  for (const name of ['system', 'tools'] as const) {
    if (recorded[name] !== now[name]) return { request, where: name, now: format(parts[name]) };
  }
  const messages = Array.isArray(parts.messages) ? parts.messages : [];
  const at = Array.from({ length: Math.max(recorded.messages.length, now.messages.length) }).findIndex(
    (_, index) => recorded.messages[index] !== now.messages[index],
  );
  if (at !== -1) return { request, where: `message ${at + 1}`, now: format(messages[at]) };
  const names = [...new Set([...Object.keys(recorded.rest), ...Object.keys(now.rest)])];
  const name = names.find((key) => JSON.stringify(recorded.rest[key]) !== JSON.stringify(now.rest[key]));
  return { request, where: name ?? 'the order of its fields', now: name === undefined ? '' : format(now.rest[name]) };
}
