import { z } from 'zod';

const text = z.string();
const positive = z.number().positive();

const hook = z
  .strictObject({
    type: z.enum(['command', 'http']),
    command: text.min(1).optional(),
    url: z.url().optional(),
    timeout: positive.optional(),
    if: text.optional(),
    onFailure: z.enum(['continue', 'block']).optional(),
    statusMessage: text.optional(),
  })
  .refine((value) => (value.type === 'command' ? value.command !== undefined : value.url !== undefined), {
    error: 'a command hook needs "command", an http hook needs "url"',
  });

/** Hooks of one event, and the tools they are about. */
export const hookGroup = z.strictObject({ matcher: text.optional(), hooks: z.array(hook) });

/** One MCP server, however it is reached. */
export const mcpServerSchema = z
  .strictObject({
    type: z.enum(['stdio', 'http', 'sse']).optional(),
    command: text.min(1).optional(),
    args: z.array(text).optional(),
    env: z.record(text, text).optional(),
    url: text.optional(),
    headers: z.record(text, text).optional(),
    timeout: positive.optional(),
  })
  .refine((value) => value.command !== undefined || value.url !== undefined, {
    error: 'a server needs "command" or "url"',
  });
