import { z } from 'zod';
import type { LanguageServerConfig } from '../../contracts/extension.ts';
import type { JsonObject } from '../../contracts/json.ts';
import { omitUndefined } from '../../lib/json.ts';

const START_TIMEOUT_MS = 30_000;
const SHUTDOWN_TIMEOUT_MS = 2_000;
const MAX_RESTARTS = 3;

const stringMap = z.record(z.string(), z.string());

/** An entry of `.lsp.json`, in the format plugins publish. */
const entry = z.lazy(() =>
  z.looseObject({
    /** The command; some plugins write the whole command line as a list. */
    command: z.union([
      z
        .string()
        .min(1)
        .transform((command) => [command]),
      z.array(z.string().min(1)).min(1),
    ]),
    args: z.array(z.string()).default([]),
    extensionToLanguage: z
      .record(z.string().regex(/^\.?\w[\w.+-]*$/, 'must be a file extension'), z.string().min(1))
      .refine((extensions) => Object.keys(extensions).length > 0, 'must have a file extension'),
    transport: z.literal('stdio', 'can only be stdio').default('stdio'),
    env: stringMap.default({}),
    initializationOptions: z.json().optional(),
    settings: z.record(z.string(), z.json()).optional(),
    workspaceFolder: z.string().min(1).optional(),
    startupTimeout: z.number().positive().default(START_TIMEOUT_MS),
    shutdownTimeout: z.number().positive().default(SHUTDOWN_TIMEOUT_MS),
    restartOnCrash: z.boolean().default(true),
    maxRestarts: z.int().nonnegative().default(MAX_RESTARTS),
    diagnostics: z.boolean().default(true),
  }),
);

type ParsedServers = { readonly servers: readonly LanguageServerConfig[]; readonly problems: readonly string[] };

/** Parses the language servers of a plugin or of the settings; an invalid one is dropped and reported. */
export function parseLanguageServers(
  entries: JsonObject,
  { name, variables }: { readonly name?: string; readonly variables: Readonly<Record<string, string>> },
): ParsedServers {
  const setting = name === undefined ? 'languageServers' : 'lspServers';
  const results = Object.entries(entries).map(([key, value]) => {
    const parsed = entry.safeParse(value);
    if (parsed.success)
      return {
        servers: [createServer(name === undefined ? key : `${name}:${key}`, variables, parsed.data)],
        problems: reportUnknownKeys(setting, key, value),
      };
    const [issue] = parsed.error.issues;
    const path = [setting, key, ...(issue?.path ?? [])].join('.');
    return { servers: [], problems: [`"${path}": ${issue?.message}. This language server is ignored.`] };
  });
  return { servers: results.flatMap(({ servers }) => servers), problems: results.flatMap(({ problems }) => problems) };
}

function createServer(
  name: string,
  variables: Readonly<Record<string, string>>,
  fields: z.output<typeof entry>,
): LanguageServerConfig {
  const {
    command: [command = '', ...more],
    args,
    env,
    settings,
    initializationOptions,
    workspaceFolder,
    extensionToLanguage,
  } = fields;
  const languages = Object.entries(extensionToLanguage).map(([extension, language]) => [
    (extension.startsWith('.') ? extension : `.${extension}`).toLowerCase(),
    language,
  ]);
  return {
    name,
    command,
    args: [...more, ...args],
    env: { ...variables, ...env },
    languages: Object.fromEntries(languages),
    ...omitUndefined({ folder: workspaceFolder, initializationOptions, settings }),
    startTimeoutMs: fields.startupTimeout,
    shutdownTimeoutMs: fields.shutdownTimeout,
    maxRestarts: fields.restartOnCrash ? fields.maxRestarts : 0,
    reportsDiagnostics: fields.diagnostics,
  };
}

const INFORMATIVE_KEYS = ['name', 'description', 'loggingConfig', '$schema'];

function reportUnknownKeys(setting: string, key: string, value: JsonObject[string]): readonly string[] {
  const known = [...Object.keys(entry._zod.innerType.shape), ...INFORMATIVE_KEYS];
  const keys = typeof value === 'object' && value !== null ? Object.keys(value) : [];
  return keys
    .filter((name) => !known.includes(name))
    .map((name) => `"${setting}.${key}.${name}" is unknown and ignored.`);
}
