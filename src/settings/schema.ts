import { z } from 'zod';
import { HOOK_EVENTS } from '../contracts/hook.ts';
import { EFFORTS } from '../contracts/model.ts';

const text = z.string();
const texts = z.array(text);
const positive = z.number().positive();

const timeout = z.enum([
  'streamIdleMs',
  'headerMs',
  'retryBaseMs',
  'mcpMs',
  'mcpCallMs',
  'hookMs',
  'bashMs',
  'bashMaxMs',
]);

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

const hookGroup = z.strictObject({ matcher: text.optional(), hooks: z.array(hook) });

/** One MCP server, however it is reached. */
const mcpServerSchema = z
  .strictObject({
    type: z.enum(['stdio', 'http', 'sse']).optional(),
    command: text.min(1).optional(),
    args: texts.optional(),
    env: z.record(text, text).optional(),
    url: text.optional(),
    headers: z.record(text, text).optional(),
    timeout: positive.optional(),
  })
  .refine((value) => value.command !== undefined || value.url !== undefined, {
    error: 'a server needs "command" or "url"',
  });

const permissions = z.strictObject({
  allow: texts.optional(),
  ask: texts.optional(),
  deny: texts.optional(),
  defaultMode: z.enum(['default', 'acceptEdits', 'plan', 'dontAsk', 'bypassPermissions']).optional(),
  additionalDirectories: texts.optional(),
  disableBypassPermissionsMode: z.literal('disable').optional(),
});

/** The one schema every settings file is held to. */
export const settingsSchema = z.strictObject({
  $schema: text.optional(),
  model: text.min(1).optional().describe('The model: opus, sonnet, haiku, or a full id.'),
  smallModel: text.min(1).optional().describe('The model for titles, summaries and other side calls.'),
  fallbackModels: texts.optional().describe('Models to try, in order, when the first stays away.'),
  effort: z.enum(EFFORTS).optional(),
  permissions: permissions.optional(),
  hooks: z.partialRecord(z.enum(HOOK_EVENTS), z.array(hookGroup)).optional(),
  disableAllHooks: z.boolean().optional(),
  env: z.record(text, text).optional().describe('Variables for shell commands, hooks and servers.'),
  mcpServers: z.record(text, mcpServerSchema).optional(),
  enabledMcpjsonServers: texts.optional(),
  disabledMcpjsonServers: texts.optional(),
  statusLine: z.strictObject({ type: z.literal('command').optional(), command: text.min(1) }).optional(),
  outputStyle: text.optional(),
  theme: text.optional(),
  editorMode: z.enum(['normal', 'vim']).optional(),
  keybindings: z.record(text, text).optional(),
  autoCompact: z.boolean().optional(),
  autoCompactPercent: z.number().min(10).max(95).optional(),
  cleanupPeriodDays: z
    .number()
    .int()
    .min(1)
    .optional()
    .describe('Sessions older than this are deleted. User and managed settings only; none are when it is not set.'),
  sandbox: z
    .strictObject({
      enabled: z.boolean().optional(),
      network: z.boolean().optional(),
      allowWrite: texts.optional(),
      denyRead: texts.optional(),
      failIfUnavailable: z.literal(true).optional().describe('Always so: without a sandbox no command runs.'),
    })
    .optional(),
  apiKeyHelper: text.optional().describe('A command that prints the API key. User and managed settings only.'),
  baseUrl: z.url().optional().describe('Where the API is. User and managed settings only.'),
  providers: z.record(text, z.json()).optional(),
  timeouts: z.partialRecord(timeout, positive).optional().describe('How long to wait, in milliseconds.'),
  maxRetries: z.number().int().min(0).optional(),
  notify: z.enum(['auto', 'bell', 'off']).optional(),
  title: z.boolean().optional(),
  banner: z.boolean().optional(),
  progress: z.boolean().optional(),
  ambiguous: z.enum(['narrow', 'wide', 'auto']).optional(),
  reducedMotion: z.boolean().optional(),
  ascii: z.boolean().optional(),
  accessible: z.boolean().optional(),
  wrap: z.enum(['words', 'terminal']).optional(),
  dialogDelayMs: z.number().min(0).optional(),
  language: text.optional(),
});

/** The schema as editors read it (`ouro settings schema`). */
export function publishedSchema(): object {
  return { ...z.toJSONSchema(settingsSchema, { io: 'input' }), title: 'Settings of ouro' };
}
