import { z } from 'zod';
import { programSandboxSchema } from '../../contracts/hook-and-server-schemas.ts';
import { omitUndefined } from '../../lib/json.ts';
import { findClosestWord } from '../../lib/text/closest-word.ts';
import type { McpServerLaunch } from '../configured-mcp-server.ts';

const text = z.string();

const identityProvider = z.lazy(() =>
  z
    .strictObject({
      tokenEndpoint: text.min(1),
      clientId: text.min(1),
      clientSecret: text.min(1).optional(),
      idToken: text.min(1).optional(),
      idTokenCommand: text.min(1).optional(),
    })
    .refine(({ idToken, idTokenCommand }) => (idToken === undefined) !== (idTokenCommand === undefined), {
      error: 'needs either "idToken" or "idTokenCommand"',
    }),
);

const oauth = z.lazy(() =>
  z
    .object({
      clientId: text.min(1).optional(),
      clientSecret: text.min(1).optional(),
      callbackPort: z.int().positive().optional(),
      scope: text.min(1).optional(),
      grant: z.enum(['authorization_code', 'client_credentials']).optional(),
      privateKey: text.min(1).optional(),
      algorithm: text.min(1).optional(),
      issuer: text.min(1).optional(),
      identityProvider: identityProvider.optional(),
    })
    .refine((login) => login.identityProvider === undefined || login.clientId !== undefined, {
      error: 'with "identityProvider" needs "clientId", the id ouro has at the server',
    })
    .refine((login) => login.identityProvider === undefined || (login.grant ?? login.privateKey) === undefined, {
      error: 'has "identityProvider", so "grant" and "privateKey" cannot be used',
    }),
);

const entry = z.lazy(() =>
  z.object({
    type: z.enum(['stdio', 'http', 'sse', 'streamable-http']).optional(),
    command: text.min(1).optional(),
    args: z.array(text).optional(),
    env: z.record(text, text).optional(),
    url: text.min(1).optional(),
    headers: z.record(text, text).optional(),
    timeout: z.number().positive().optional(),
    disabled: z.boolean().optional(),
    sandbox: programSandboxSchema.optional(),
    oauth: oauth.optional(),
  }),
);

const listKeys = () => Object.keys(entry._zod.innerType.shape);

/** A parsed entry of `mcpServers`, or the problem that makes it unusable. */
export type ParsedMcpServerEntry =
  | {
      readonly ok: true;
      readonly launch: McpServerLaunch;
      readonly timeoutMs?: number;
      readonly isDisabled: boolean;
      readonly warnings: readonly string[];
    }
  | { readonly ok: false; readonly problem: string };

/** Parses an entry of `mcpServers`; an unknown key is only a warning. */
export function parseMcpServerEntry(value: unknown): ParsedMcpServerEntry {
  const parsed = entry.safeParse(value);
  if (!parsed.success) return { ok: false, problem: parsed.error.issues.map(formatIssue).join('; ') };
  const { type, command, url, timeout } = parsed.data;
  const launch = createLaunch(parsed.data);
  if (launch === undefined) {
    const missing = type === undefined ? 'needs "command" or "url"' : `of type ${type} needs "${getRequiredKey(type)}"`;
    return { ok: false, problem: `a server ${missing}` };
  }
  const hasBoth = command !== undefined && url !== undefined;
  return {
    ok: true,
    launch,
    isDisabled: parsed.data.disabled === true,
    ...(timeout === undefined ? {} : { timeoutMs: timeout }),
    warnings: [
      ...(hasBoth ? [`has "command" and "url"; it is used as ${launch.kind}`] : []),
      ...Object.keys(Object(value))
        .filter((key) => !listKeys().includes(key))
        .map(describeUnknownKey),
    ],
  };
}

function getRequiredKey(type: string): string {
  return type === 'stdio' ? 'command' : 'url';
}

function createLaunch(fields: z.output<typeof entry>): McpServerLaunch | undefined {
  const { type = fields.command === undefined ? 'http' : 'stdio', command, url } = fields;
  if (type === 'stdio') {
    return command === undefined
      ? undefined
      : {
          ...{ kind: 'stdio', command, args: fields.args ?? [], env: fields.env ?? {} },
          ...omitUndefined({ sandbox: fields.sandbox }),
        };
  }
  if (url === undefined) return undefined;
  const login = fields.oauth === undefined ? {} : { oauth: fields.oauth };
  return { kind: type === 'sse' ? 'sse' : 'http', url, headers: fields.headers ?? {}, ...login };
}

function describeUnknownKey(key: string): string {
  const suggestion = findClosestWord(key, listKeys());
  return `unknown key "${key}"${suggestion === undefined ? '' : `, did you mean "${suggestion}"?`}`;
}

function formatIssue(issue: z.core.$ZodIssue): string {
  return issue.path.length === 0 ? issue.message : `"${issue.path.join('.')}": ${issue.message}`;
}
