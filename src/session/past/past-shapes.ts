import { z } from 'zod';
import type { Display } from '../../contracts/display.ts';
import { FAILURE_KINDS } from '../../contracts/model.ts';
import { TERMINAL_REASONS, type Terminal } from '../../contracts/terminal.ts';

const count = z.number();
const texts = z.array(z.string());

const hunk = z.object({
  oldStart: count,
  oldLines: count,
  newStart: count,
  newLines: count,
  lines: z.array(z.object({ kind: z.enum(['add', 'del', 'same']), text: z.string() })),
});

const question = z.object({
  question: z.string(),
  header: z.string().optional(),
  multiSelect: z.boolean(),
  options: z.array(z.object({ label: z.string(), description: z.string().optional() })),
});

const todo = z.object({
  content: z.string(),
  status: z.enum(['pending', 'in_progress', 'completed']),
  activeForm: z.string().optional(),
});

const display: z.ZodType<Display> = z.discriminatedUnion('kind', [
  z.object({ kind: z.literal('text'), text: z.string() }),
  z.object({
    kind: z.literal('diff'),
    path: z.string(),
    created: z.boolean(),
    hunks: z.array(hunk),
    added: count,
    removed: count,
  }),
  z.object({ kind: z.literal('file'), path: z.string(), lines: count, partial: z.boolean() }),
  z.object({ kind: z.literal('list'), summary: z.string(), items: texts, total: count }),
  z.object({
    kind: z.literal('output'),
    command: z.string(),
    output: z.string(),
    exitCode: count.nullable(),
    end: z.string().optional(),
    hiddenLines: count,
    fullPath: z.string().optional(),
  }),
  z.object({ kind: z.literal('todo'), todos: z.array(todo) }),
  z.object({ kind: z.literal('image'), path: z.string(), mediaType: z.string(), bytes: count }),
  z.object({ kind: z.literal('plan'), plan: z.string() }),
  z.object({ kind: z.literal('question'), questions: z.array(question), answers: texts }),
  z.object({ kind: z.literal('agent'), agentType: z.string(), summary: z.string(), calls: count }),
]);

/** How a call went, as it stands on record; what cannot be read of it is left out. */
export const callEnd = z.object({
  status: z.enum(['done', 'failed', 'denied', 'interrupted']),
  durationMs: count.catch(0),
  display: display.optional().catch(undefined),
});

const terminal: z.ZodType<Terminal> = z.object({
  reason: z.enum(TERMINAL_REASONS),
  words: z.string().optional(),
  failure: z
    .object({ kind: z.enum(FAILURE_KINDS), message: z.string(), status: count.optional() })
    .optional()
    .catch(undefined),
});

/** How a run ended. */
export const runEnd = z.object({ terminal, durationMs: count.catch(0) });

export const notice = z.object({
  level: z.enum(['info', 'warn', 'error']),
  text: z.string(),
  topic: z.string().optional(),
});

/** When a reply came. */
export const turnEnd = z.object({ messageId: z.string(), durationMs: count, firstTokenMs: count });

/** A call that a person made begins without a reply. */
export const callStart = z.object({ callId: z.string(), tool: z.string(), messageId: z.string() });
