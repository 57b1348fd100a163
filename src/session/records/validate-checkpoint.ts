import { z } from 'zod';
import type { CheckpointEntry, CheckpointPathState } from '../../contracts/session.ts';
import { ABSOLUTE_PATH_PATTERN } from '../../lib/files/path-style.ts';

const order = z
  .number()
  .int()
  .nonnegative()
  .max(Number.MAX_SAFE_INTEGER / 2);
const path = z.string().regex(ABSOLUTE_PATH_PATTERN);
const access = {
  mode: z.number().int().nonnegative().max(0o7777),
  owner: z.string().optional(),
  attributes: z.record(z.string(), z.string()).optional(),
};

/** Replaces a field that cannot be read, or refuses it. */
type OnUnreadable = <T>(schema: z.ZodType<T>, replacement: T) => z.ZodType<T>;

const refuse: OnUnreadable = (schema) => schema;
const replace: OnUnreadable = (schema, replacement) => schema.catch(() => replacement);

function createEntrySchema(optional: OnUnreadable) {
  // A state of a newer version cannot be restored, as if it had not been stored.
  const before = optional<CheckpointPathState>(pathState, { kind: 'not-kept', why: 'its record cannot be read' });
  const after = optional(pathState.optional(), undefined);
  const text = optional(z.string(), '');
  const replacedPath = z.object({ path, before, after });
  const replaced = optional(z.array(optional(replacedPath.nullable(), null)).readonly(), []).transform((items) =>
    items.flatMap((item) => item ?? []),
  );
  return z.discriminatedUnion('step', [
    z.object({ step: z.literal('prompt'), id: z.string(), messageId: text, prompt: text, at: text, order }),
    z.object({
      step: z.literal('change'),
      id: text,
      order,
      path,
      before,
      after,
      until: optional(order.optional(), undefined),
    }),
    z.object({
      step: z.literal('command'),
      id: text,
      order,
      root: path,
      // Part of a file name.
      manifest: z.string().regex(/^[\w-]+$/),
      notKept: optional(z.array(z.string()).readonly(), []),
    }),
    z.object({ step: z.literal('command-end'), order }),
    z.object({ step: z.literal('undoing'), id: z.string(), order, replaced }),
    z.object({
      step: z.literal('undone'),
      id: z.string(),
      order,
      paths: z.array(z.string()).readonly().optional(),
      replaced: replaced.optional(),
    }),
    z.object({ step: z.literal('redone'), undone: order, order }),
    z.object({ step: z.literal('left'), id: z.string(), order }),
  ]);
}

const pathState = z.lazy(() =>
  z.discriminatedUnion('kind', [
    z.object({ kind: z.literal('absent') }),
    // The hash becomes a file name.
    z.object({ kind: z.literal('file'), hash: z.string().regex(/^[0-9a-f]{64}$/), ...access }),
    z.object({ kind: z.literal('link'), target: z.string() }),
    z.object({ kind: z.literal('folder'), ...access }),
    z.object({ kind: z.literal('pipe'), ...access }),
    z.object({ kind: z.literal('not-kept'), why: z.string() }),
  ]),
);

const completeEntry = z.lazy(() => createEntrySchema(refuse));
const repairedEntry = z.lazy(() => createEntrySchema(replace));
const unknownEntry = z.object({ step: z.string(), order });
const listSteps = (): readonly string[] => completeEntry._zod.innerType.options.map(({ shape }) => shape.step.value);

/** Returns whether every field of a checkpoint entry can be read. Unknown steps are those of a newer version. */
export function isCheckpointEntry(value: unknown): value is CheckpointEntry {
  if (completeEntry.safeParse(value).success) return true;
  const unknown = unknownEntry.safeParse(value);
  return unknown.success && !listSteps().includes(unknown.data.step);
}

/** Repairs a checkpoint entry field by field; `undefined` if a field is missing that it cannot be used without. */
export function repairCheckpointEntry(value: unknown): CheckpointEntry | undefined {
  return repairedEntry.safeParse(value).data;
}
