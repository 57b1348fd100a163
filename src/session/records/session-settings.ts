import { z } from 'zod';
import type { JsonObject, JsonValue } from '../../contracts/json.ts';
import { EFFORTS } from '../../contracts/model.ts';
import { PERMISSION_MODES } from '../../contracts/permission.ts';
import type { SessionRecord } from '../../contracts/session.ts';
import { ABSOLUTE_PATH_PATTERN } from '../../lib/files/path-style.ts';

const catalogEntriesSchema = z.array(z.object({ name: z.string(), description: z.string() })).readonly();

const announcedSchema = z.lazy(() =>
  z.object({
    date: z.string(),
    branch: z.string().optional(),
    mode: z.enum(PERMISSION_MODES),
    answering: z
      .object({
        language: z.string().optional(),
        style: z.object({ name: z.string(), text: z.string() }).optional(),
      })
      .optional(),
    catalog: z.object({
      skills: catalogEntriesSchema,
      agents: catalogEntriesSchema,
      tools: z.array(z.string()).readonly(),
      mcpInstructions: z.array(z.object({ server: z.string(), instructions: z.string() })).readonly(),
    }),
  }),
);

const todoSchema = z.object({
  content: z.string(),
  status: z.enum(['pending', 'in_progress', 'completed']),
  activeForm: z.string().optional(),
});

const grantSchema = z.object({ rule: z.string(), behavior: z.enum(['allow', 'ask', 'deny']) });
const countSchema = z.number().int().nonnegative();

const settingsSchema = z.lazy(() =>
  z
    .object({
      model: z.string().min(1),
      effort: z.enum(EFFORTS),
      thinkingTokens: countSchema,
      mode: z.enum(PERMISSION_MODES),
      cwd: z.string().regex(ABSOLUTE_PATH_PATTERN),
      /** Cost of all runs of the session so far. */
      spentUsd: z.number().nonnegative(),
      todos: z.array(todoSchema).readonly(),
      plan: z.string(),
      /** Turns and changed lines of all runs so far. */
      worked: z.object({ turns: countSchema, added: countSchema, removed: countSchema }),
      outputStyle: z.string(),
      grants: z.array(grantSchema).readonly(),
      directories: z.array(z.string().regex(ABSOLUTE_PATH_PATTERN)).readonly(),
      /** State of the files when the model last read them. */
      files: z.custom<JsonValue>(() => true),
      /** Facts already announced to the model; later only changes are announced. */
      announced: announcedSchema,
      /** Instructions last given to the model, when they differ from those in its system prompt. */
      instructions: z.string().nullable(),
      /** Flags the system prompt was rendered with. */
      promptFlags: z.string(),
    })
    .partial(),
);

/** The recorded settings of a session, which may change while it runs. */
export type SessionSettings = Readonly<z.infer<typeof settingsSchema>>;

/** Names of two fields as they are stored; kept for older session files. */
const RECORDED_NAMES: Readonly<Record<string, string>> = { announced: 'told', instructions: 'memoryTold' };

/** Renames changed settings to the names they are stored with. */
export function toRecordedSettingNames(changed: JsonObject): JsonObject {
  return Object.fromEntries(Object.entries(changed).map(([name, value]) => [RECORDED_NAMES[name] ?? name, value]));
}

/** Returns whether every known field of a settings record can be read. Unknown fields are those of a newer version. */
export function areReadableSettings(data: JsonObject): boolean {
  return Object.entries(data).every(([name, value]) => isReadable(name, value));
}

function isReadable(name: string, value: unknown): boolean {
  const field = Object.keys(settingsSchema._zod.innerType.shape).find(
    (candidate) => (RECORDED_NAMES[candidate] ?? candidate) === name,
  );
  return field === undefined || settingsSchema.safeParse({ [field]: value }).success;
}

/** Settings that say what a session may do, and where. */
const AUTHORITY = ['grants', 'directories', 'cwd', 'mode'];

/** Removes what a session may do from a record, because the session file comes from somewhere else. */
export function removeRecordedPermissions(record: SessionRecord): SessionRecord {
  if (record.type !== 'system' || record.subtype !== 'live') return record;
  return {
    ...record,
    data: Object.fromEntries(Object.entries(record.data).filter(([name]) => !AUTHORITY.includes(name))),
  };
}

/** Decodes the newest value of every setting. One that cannot be read is dropped, never replaced by an older one. */
export function decodeSessionSettings(recorded: JsonObject): SessionSettings {
  const names = Object.keys(settingsSchema._zod.innerType.shape);
  const known = names.map((name) => [name, recorded[RECORDED_NAMES[name] ?? name]] as const);
  const readable = known.filter(
    ([name, value]) => value !== undefined && isReadable(RECORDED_NAMES[name] ?? name, value),
  );
  return settingsSchema.parse(Object.fromEntries(readable));
}
