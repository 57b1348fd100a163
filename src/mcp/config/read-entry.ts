import { z } from 'zod';
import { nearest } from '../../lib/text/nearest.ts';
import type { Launch } from './configured-server.ts';

const text = z.string();

const identityProvider = z
  .strictObject({
    tokenEndpoint: text.min(1),
    clientId: text.min(1),
    clientSecret: text.min(1).optional(),
    idToken: text.min(1).optional(),
    idTokenCommand: text.min(1).optional(),
  })
  .refine(({ idToken, idTokenCommand }) => (idToken === undefined) !== (idTokenCommand === undefined), {
    error: 'needs either "idToken" or "idTokenCommand"',
  });

const oauth = z
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
    error: 'with "identityProvider" needs the "clientId" that the server knows us by',
  })
  .refine((login) => login.identityProvider === undefined || (login.grant ?? login.privateKey) === undefined, {
    error: 'has "identityProvider", so "grant" and "privateKey" have no meaning',
  });

const entry = z.object({
  type: z.enum(['stdio', 'http', 'sse', 'streamable-http']).optional(),
  command: text.min(1).optional(),
  args: z.array(text).optional(),
  env: z.record(text, text).optional(),
  url: text.min(1).optional(),
  headers: z.record(text, text).optional(),
  timeout: z.number().positive().optional(),
  disabled: z.boolean().optional(),
  oauth: oauth.optional(),
});

const KEYS = Object.keys(entry.shape);

/** One entry of `mcpServers`, read; or what is wrong with it. */
export type ReadEntry =
  | {
      readonly ok: true;
      readonly launch: Launch;
      readonly timeoutMs?: number;
      readonly isDisabled: boolean;
      readonly warnings: readonly string[];
    }
  | { readonly ok: false; readonly problem: string };

/** Holds an entry against the schema; a key nobody knows is told, not fatal. */
export function readEntry(value: unknown): ReadEntry {
  const parsed = entry.safeParse(value);
  if (!parsed.success) return { ok: false, problem: parsed.error.issues.map(issueWords).join('; ') };
  const { type, command, url, timeout } = parsed.data;
  const launch = launchOf(parsed.data);
  if (launch === undefined) {
    const missing = type === undefined ? 'needs "command" or "url"' : `of type ${type} needs "${neededBy(type)}"`;
    return { ok: false, problem: `a server ${missing}` };
  }
  const both = command !== undefined && url !== undefined;
  return {
    ok: true,
    launch,
    isDisabled: parsed.data.disabled === true,
    ...(timeout === undefined ? {} : { timeoutMs: timeout }),
    warnings: [
      ...(both ? [`has "command" and "url"; it is used as ${launch.kind}`] : []),
      ...Object.keys(Object(value))
        .filter((key) => !KEYS.includes(key))
        .map(unknownKey),
    ],
  };
}

function neededBy(type: string): string {
  return type === 'stdio' ? 'command' : 'url';
}

function launchOf(read: z.output<typeof entry>): Launch | undefined {
  const { type = read.command === undefined ? 'http' : 'stdio', command, url } = read;
  if (type === 'stdio') {
    return command === undefined ? undefined : { kind: 'stdio', command, args: read.args ?? [], env: read.env ?? {} };
  }
  if (url === undefined) return undefined;
  const login = read.oauth === undefined ? {} : { oauth: read.oauth };
  return { kind: type === 'sse' ? 'sse' : 'http', url, headers: read.headers ?? {}, ...login };
}

function unknownKey(key: string): string {
  const meant = nearest(key, KEYS);
  return `unknown key "${key}"${meant === undefined ? '' : `, did you mean "${meant}"?`}`;
}

function issueWords(issue: z.core.$ZodIssue): string {
  return issue.path.length === 0 ? issue.message : `"${issue.path.join('.')}": ${issue.message}`;
}
