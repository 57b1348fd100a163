import { existsSync } from 'node:fs';
import { z } from 'zod';
import type { JsonObject } from '../../contracts/json.ts';

const listed = z.array(z.object({ name: z.string(), description: z.string() }));

const told = z.object({
  date: z.string(),
  branch: z.string().optional(),
  mode: z.enum(['default', 'acceptEdits', 'plan', 'dontAsk', 'bypassPermissions']),
  language: z.string().optional(),
  style: z.string().optional(),
  catalog: z.object({
    skills: listed,
    agents: listed,
    tools: z.array(z.string()),
    mcpInstructions: z.array(z.object({ server: z.string(), instructions: z.string() })),
  }),
});

/** Each part by itself: one that cannot be read does not take the others with it. */
const schema = z.object({
  model: z.string().optional().catch(undefined),
  effort: z.enum(['off', 'low', 'medium', 'high', 'max']).optional().catch(undefined),
  thinkingTokens: z.number().optional().catch(undefined),
  mode: z.enum(['default', 'acceptEdits', 'plan', 'dontAsk', 'bypassPermissions']).optional().catch(undefined),
  cwd: z.string().optional().catch(undefined),
  todos: z
    .array(
      z.object({
        content: z.string(),
        status: z.enum(['pending', 'in_progress', 'completed']),
        activeForm: z.string().optional(),
      }),
    )
    .optional()
    .catch(undefined),
  plan: z.string().optional().catch(undefined),
  outputStyle: z.string().optional().catch(undefined),
  grants: z
    .array(z.object({ rule: z.string(), behavior: z.enum(['allow', 'ask', 'deny']) }))
    .optional()
    .catch(undefined),
  directories: z.array(z.string()).optional().catch(undefined),
  /** What the files were when the model last saw them. */
  files: z.json().optional().catch(undefined),
  told: told.optional().catch(undefined),
  memoryTold: z.string().optional().catch(undefined),
  /** The flags that the kept system prompt was made with. */
  promptFlags: z.string().optional().catch(undefined),
});

/** What a session remembers of how it was left. */
export type StoredState = z.infer<typeof schema>;

/** The newest word on each thing; a folder that is gone is not gone back to. */
export function readStoredState(live: JsonObject): StoredState {
  const { cwd, ...rest } = schema.parse(live);
  return cwd === undefined || !existsSync(cwd) ? rest : { ...rest, cwd };
}
