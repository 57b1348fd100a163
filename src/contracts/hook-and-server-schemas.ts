import { z } from 'zod';
import type { Frozen, JsonValue } from './json.ts';

const text = z.string();
const positive = z.number().positive();
const jsonValue: z.ZodType<JsonValue> = z.json();

const HOOK_NEEDS = {
  command: ['command'],
  http: ['url'],
  prompt: ['prompt'],
  agent: ['prompt'],
  mcp_tool: ['server', 'tool'],
} as const;

const hook = z.lazy(() =>
  z
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
      input: z.record(text, jsonValue).optional(),
      async: z.boolean().optional(),
      asyncRewake: z.boolean().optional(),
      once: z.boolean().optional(),
      timeout: positive.optional(),
      if: text.optional(),
      onFailure: z.enum(['continue', 'block']).optional(),
      statusMessage: text.optional(),
      sandbox: z.enum(['network', 'off']).optional(),
    })
    .refine((value) => HOOK_NEEDS[value.type].every((key) => value[key] !== undefined), {
      error:
        'a command hook needs "command", an http hook "url", a prompt or agent hook "prompt", an mcp_tool hook "server" and "tool"',
    }),
);

/** The schema of a hook group: hooks of one event with the tools they match. */
export const hookGroupSchema = z.strictObject({
  matcher: text.optional(),
  hooks: z.array(hook),
});

/** The schema of what an entry of a program asks for beyond the sandbox of programs of the project. */
export const programSandboxSchema = z.lazy(() =>
  z.union([z.enum(['write', 'network', 'off']), z.array(z.enum(['write', 'network', 'off'])).min(1)]),
);

/** The schema of a formatter or linter. */
export const checkerSchema = z.lazy(() =>
  z.union([text.min(1), z.strictObject({ command: text.min(1), sandbox: programSandboxSchema.optional() })]),
);

/** The schema of the status line. */
export const statusLineSchema = z.lazy(() =>
  z.strictObject({
    type: z.literal('command').optional(),
    command: text.min(1),
    padding: z.number().int().min(0).max(20).optional(),
    sandbox: programSandboxSchema.optional(),
  }),
);

/** The schema of an MCP server, started by a command or reached by URL. */
export const mcpServerSchema = z.lazy(() =>
  z
    .strictObject({
      type: z.enum(['stdio', 'http', 'sse']).optional(),
      command: z.string().min(1).optional(),
      args: z.array(z.string()).optional(),
      env: z.record(z.string(), z.string()).optional(),
      url: z.string().optional(),
      headers: z.record(z.string(), z.string()).optional(),
      timeout: z.number().positive().optional(),
      disabled: z.boolean().optional(),
      /** For servers in the workspace, which run in a sandbox. */
      sandbox: programSandboxSchema.optional(),
      /** For servers without dynamic client registration. */
      oauth: z
        .object({
          /** A URL is a client metadata document, for servers that support it. */
          clientId: z.string().optional(),
          clientSecret: z.string().optional(),
          /** Registered port of the redirect URL. */
          callbackPort: z.int().positive().optional(),
          scope: z.string().optional(),
          /** `client_credentials`: log in without a user, by client secret or private key. */
          grant: z.enum(['authorization_code', 'client_credentials']).optional(),
          privateKey: z.string().optional(),
          algorithm: z.string().optional(),
          /** The only authorization server that may get the credentials, whatever the MCP server names. */
          issuer: z.string().optional(),
          /** An enterprise identity provider that authorizes access to MCP servers centrally. */
          identityProvider: z
            .strictObject({
              tokenEndpoint: z.string(),
              clientId: z.string(),
              clientSecret: z.string().optional(),
              /** ID token of the user's sign-in, or a shell command that prints it. */
              idToken: z.string().optional(),
              idTokenCommand: z.string().optional(),
            })
            .optional(),
        })
        .optional(),
    })
    .refine((value) => value.command !== undefined || value.url !== undefined, {
      error: 'a server needs "command" or "url"',
    }),
);

/** The configuration of an MCP server. */
export type McpServerConfig = Frozen<z.output<typeof mcpServerSchema>>;

/** The search provider of the tool WebSearch. */
export const webSearchSettingsSchema = z.lazy(() =>
  z.strictObject({
    provider: z.enum(['brave', 'tavily', 'exa', 'searxng', 'command']),
    /** Name of the variable with the key. */
    apiKeyEnv: z.string().min(1).optional(),
    /** Another address of the API; for SearXNG the instance. */
    baseUrl: z.url().optional(),
    command: z.string().min(1).optional(),
    maxResults: z.int().min(1).max(20).optional(),
  }),
);

/** Schema of the options of plugins. */
export const pluginConfigsSchema = z.lazy(() =>
  z.record(
    z.string(),
    z.object({ options: z.record(z.string(), z.union([z.string(), z.number(), z.boolean()])).optional() }),
  ),
);
