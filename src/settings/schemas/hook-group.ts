import { z } from 'zod';

const text = z.string();
const positive = z.number().positive();

const HOOK_NEEDS = {
  command: ['command'],
  http: ['url'],
  prompt: ['prompt'],
  agent: ['prompt'],
  mcp_tool: ['server', 'tool'],
} as const;

const hook = z
  .strictObject({
    type: z.enum(['command', 'http', 'prompt', 'agent', 'mcp_tool']),
    command: text.min(1).optional(),
    args: z.array(text).optional(),
    shell: z.enum(['bash', 'powershell']).optional(),
    url: z.url().optional(),
    headers: z.record(text, text).optional(),
    allowedEnvVars: z.array(text).optional(),
    prompt: text.min(1).optional(),
    model: text.min(1).optional(),
    server: text.min(1).optional(),
    tool: text.min(1).optional(),
    input: z.record(text, z.json()).optional(),
    async: z.boolean().optional(),
    asyncRewake: z.boolean().optional(),
    once: z.boolean().optional(),
    timeout: positive.optional(),
    if: text.optional(),
    onFailure: z.enum(['continue', 'block']).optional(),
    statusMessage: text.optional(),
  })
  .refine((value) => HOOK_NEEDS[value.type].every((key) => value[key] !== undefined), {
    error:
      'a command hook needs "command", an http hook "url", a prompt or agent hook "prompt", an mcp_tool hook "server" and "tool"',
  });

/** Hooks of one event, and the tools they are about. */
export const hookGroup = z.strictObject({
  matcher: text.optional(),
  hooks: z.array(hook),
});
