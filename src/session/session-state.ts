import { existsSync } from 'node:fs';
import { z } from 'zod';
import type { QueuedMessage } from '../contracts/event.ts';
import type { RunOptions } from '../contracts/face/run-options.ts';
import type { JsonObject, JsonValue } from '../contracts/json.ts';
import { EFFORTS } from '../contracts/model.ts';
import { MODES } from '../contracts/permission.ts';
import type { CheckpointEntry, RecordBody, Worked } from '../contracts/session.ts';
import { asJson } from '../lib/as-json.ts';
import type { Rebuilt } from './records/rebuild.ts';
import { parseHead, type RecordedHead, type RequestHead } from './request-head.ts';

const listed = z.array(z.object({ name: z.string(), description: z.string() })).readonly();

const announced = z.object({
  date: z.string(),
  branch: z.string().optional(),
  mode: z.enum(MODES),
  answering: z
    .object({
      language: z.string().optional(),
      style: z.object({ name: z.string(), text: z.string() }).optional(),
    })
    .optional(),
  catalog: z.object({
    skills: listed,
    agents: listed,
    tools: z.array(z.string()).readonly(),
    mcpInstructions: z.array(z.object({ server: z.string(), instructions: z.string() })).readonly(),
  }),
});

const todo = z.object({
  content: z.string(),
  status: z.enum(['pending', 'in_progress', 'completed']),
  activeForm: z.string().optional(),
});

const grant = z.object({ rule: z.string(), behavior: z.enum(['allow', 'ask', 'deny']) });

/** Each part by itself: one that cannot be read does not take the others with it. */
const settings = z.object({
  model: readable(z.string()),
  effort: readable(z.enum(EFFORTS)),
  thinkingTokens: readable(z.number()),
  mode: readable(z.enum(MODES)),
  cwd: readable(z.string().refine(existsSync)),
  /** What all its runs have cost. */
  spentUsd: readable(z.number().nonnegative()),
  todos: readable(z.array(todo).readonly()),
  plan: readable(z.string()),
  /** How much was done in all its runs. */
  worked: readable(z.object({ turns: z.number(), added: z.number(), removed: z.number() })),
  outputStyle: readable(z.string()),
  grants: readable(z.array(grant).readonly()),
  directories: readable(z.array(z.string()).readonly()),
  /** What the files were when the model last saw them. */
  files: readable<JsonValue>(z.json()),
  /** What the model was told of its surroundings, so that later only changes are told. */
  announced: readable(announced),
  /** The instructions as the model knows them, where they are not those of its system prompt any more. */
  instructions: readable(z.string().nullable()),
  /** The flags that its system prompt was made with. */
  promptFlags: readable(z.string()),
});

function readable<Part>(schema: z.ZodType<Part>) {
  return schema.optional().catch(undefined);
}

/** What may change while a session runs and is on record from then on. A folder that is gone is not gone back to. */
export type SessionSettings = Readonly<z.infer<typeof settings>>;

/** Everything that a resume puts back besides the messages: decoded once, each part for the one who needs it. */
export type SessionState = SessionSettings & {
  readonly title: Rebuilt['title'];
  /** The newest record, which the next one follows. */
  readonly lastUuid: string | null;
  /** What the last request began with. */
  readonly requestHead: RecordedHead | undefined;
  /** Hashes of the long texts that are on record already. */
  readonly knownTexts: readonly string[];
  /** Messages that were queued and never delivered. */
  readonly queued: readonly QueuedMessage[];
  readonly checkpoints: readonly CheckpointEntry[];
  /** What the context pipeline decided, as it wrote it. */
  readonly context: readonly JsonObject[];
};

/** Nothing was done yet. */
export const NO_WORK: Worked = { turns: 0, added: 0, removed: 0 };

/** The state of a session that has just begun. */
export const NEW_SESSION: SessionState = {
  title: undefined,
  lastUuid: null,
  requestHead: undefined,
  knownTexts: [],
  queued: [],
  checkpoints: [],
  context: [],
};

/** On disk two of the names are older than their meaning. */
const RECORDED_NAMES: Readonly<Record<string, string>> = { announced: 'told', instructions: 'memoryTold' };

/** The record of settings that changed; everything else of a session is on record as it happens. */
export function encodeSettings(changed: SessionSettings): RecordBody {
  const data = Object.entries(asJson(changed)).map(([name, value]) => [RECORDED_NAMES[name] ?? name, value]);
  return { type: 'system', subtype: 'live', data: Object.fromEntries(data) };
}

/** The state of a stored session; what cannot be read of it is left out. */
export function decodeSession({
  live,
  title,
  lastUuid,
  requestHead,
  queued,
  checkpoints,
  context,
}: Rebuilt): SessionState {
  const { told, memoryTold, ...plain } = live;
  return {
    ...settings.parse({ ...plain, announced: told, instructions: memoryTold }),
    title,
    lastUuid,
    requestHead: requestHead.head,
    knownTexts: [...requestHead.texts.keys()],
    queued,
    checkpoints,
    context,
  };
}

/** What an earlier run of a session had sent: the same bytes go out again. */
export type SentBefore = RequestHead & Pick<SessionState, 'announced' | 'instructions'>;

type PromptFlags = Pick<RunOptions, 'systemPrompt' | 'appendSystemPrompt' | 'agent'>;

/** The flags that a system prompt is made with, as one text. */
export function promptFlags({ systemPrompt, appendSystemPrompt, agent }: PromptFlags): string {
  return JSON.stringify([systemPrompt ?? '', appendSystemPrompt ?? '', agent ?? '']);
}

/** Nothing to repeat in a new session, after an update of ouro, or when other words were asked for. */
export function sentBefore(
  { requestHead, announced, instructions, promptFlags: flags = promptFlags({}) }: SessionState,
  options: PromptFlags,
  version: string,
): { readonly sent: SentBefore | undefined; readonly notice: string | undefined } {
  if (requestHead === undefined) return { sent: undefined, notice: undefined };
  if (requestHead.version !== version) {
    const notice = `This session was begun with ouro ${requestHead.version}; its system prompt is written anew by ${version}.`;
    return { sent: undefined, notice };
  }
  if (flags !== promptFlags(options)) return { sent: undefined, notice: undefined };
  return { sent: { ...parseHead(requestHead), announced, instructions }, notice: undefined };
}
