import { z } from 'zod';

const text = z.string();
const positive = z.number().positive();

/** One MCP server, however it is reached. */
export const mcpServer = z
  .strictObject({
    type: z.enum(['stdio', 'http', 'sse']).optional(),
    command: text.min(1).optional(),
    args: z.array(text).optional(),
    env: z.record(text, text).optional(),
    url: text.optional(),
    headers: z.record(text, text).optional(),
    timeout: positive.optional(),
    disabled: z.boolean().optional(),
    oauth: z
      .object({
        clientId: text.optional(),
        clientSecret: text.optional(),
        callbackPort: z.int().positive().optional(),
        scope: text.optional(),
        grant: z.enum(['authorization_code', 'client_credentials']).optional(),
        privateKey: text.optional(),
        algorithm: text.optional(),
        issuer: text.optional(),
        identityProvider: z
          .strictObject({
            tokenEndpoint: text,
            clientId: text,
            clientSecret: text.optional(),
            idToken: text.optional(),
            idTokenCommand: text.optional(),
          })
          .optional(),
      })
      .optional(),
  })
  .refine((value) => value.command !== undefined || value.url !== undefined, {
    error: 'a server needs "command" or "url"',
  });
