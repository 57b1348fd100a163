import { z } from 'zod';
import type { LanguageServer, Plugin, PluginVariables } from '../../contracts/extension.ts';
import type { JsonObject } from '../../contracts/json.ts';

const START_MS = 30_000;
const END_MS = 2_000;
const MOST_RESTARTS = 3;

const texts = z.record(z.string(), z.string());

/** A server of `.lsp.json`, as it is published for Claude Code. */
const entry = z.looseObject({
  /** Some write the whole line as a list. */
  command: z.union([
    z
      .string()
      .min(1)
      .transform((one) => [one]),
    z.array(z.string().min(1)).min(1),
  ]),
  args: z.array(z.string()).default([]),
  extensionToLanguage: z
    .record(z.string().regex(/^\.?\w[\w.+-]*$/, 'must be the ending of a name of a file'), z.string().min(1))
    .refine((endings) => Object.keys(endings).length > 0, 'must name an ending'),
  transport: z.literal('stdio', 'can only be stdio').default('stdio'),
  env: texts.default({}),
  initializationOptions: z.json().optional(),
  settings: z.record(z.string(), z.json()).optional(),
  workspaceFolder: z.string().min(1).optional(),
  startupTimeout: z.number().positive().default(START_MS),
  shutdownTimeout: z.number().positive().default(END_MS),
  restartOnCrash: z.boolean().default(true),
  maxRestarts: z.int().nonnegative().default(MOST_RESTARTS),
  diagnostics: z.boolean().default(true),
});

type Read = { readonly servers: readonly LanguageServer[]; readonly problems: readonly string[] };

/** The language servers of a plugin; what does not fit is left out, with a sentence. */
export function readLanguageServers(said: JsonObject, plugin: Pick<Plugin, 'name' | 'variables'>): Read {
  const read = Object.entries(said).map(([key, value]) => {
    const parsed = entry.safeParse(value);
    if (parsed.success)
      return {
        servers: [serverOf(`${plugin.name}:${key}`, plugin.variables, parsed.data)],
        problems: unknown(key, value),
      };
    const [issue] = parsed.error.issues;
    const place = ['lspServers', key, ...(issue?.path ?? [])].join('.');
    return { servers: [], problems: [`"${place}": ${issue?.message}. This language server is not used.`] };
  });
  return { servers: read.flatMap(({ servers }) => servers), problems: read.flatMap(({ problems }) => problems) };
}

function serverOf(name: string, variables: PluginVariables, said: z.output<typeof entry>): LanguageServer {
  const {
    command: [command = '', ...more],
    args,
    env,
    settings,
    initializationOptions,
    workspaceFolder,
    extensionToLanguage,
  } = said;
  const dotted = Object.entries(extensionToLanguage).map(([ending, language]) => [
    (ending.startsWith('.') ? ending : `.${ending}`).toLowerCase(),
    language,
  ]);
  return {
    name,
    command,
    args: [...more, ...args],
    env: { ...variables, ...env },
    languages: Object.fromEntries(dotted),
    ...(workspaceFolder === undefined ? {} : { folder: workspaceFolder }),
    ...(initializationOptions === undefined ? {} : { initializationOptions }),
    ...(settings === undefined ? {} : { settings }),
    startMs: said.startupTimeout,
    endMs: said.shutdownTimeout,
    mostRestarts: said.restartOnCrash ? said.maxRestarts : 0,
    tellsProblems: said.diagnostics,
  };
}

const ABOUT = ['name', 'description', 'loggingConfig', '$schema'];

function unknown(key: string, value: JsonObject[string]): readonly string[] {
  const known = [...Object.keys(entry.shape), ...ABOUT];
  const strange = typeof value === 'object' && value !== null ? Object.keys(value) : [];
  return strange
    .filter((name) => !known.includes(name))
    .map((name) => `"lspServers.${key}.${name}" is not known here and changes nothing.`);
}
