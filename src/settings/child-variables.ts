import { z } from 'zod';
import { type Environment, SECRETS } from '../contracts/environment.ts';
import type { Settings } from '../contracts/settings.ts';

const keyed = z.looseObject({ apiKeyEnv: z.string() });

/** The surroundings with the keys that the settings name for providers put aside, as ours are from the start. */
export function keysAside(environment: Environment, settings: Settings): Environment {
  const names = keyNames(settings);
  const { variables } = environment;
  const taken = Object.entries(variables).filter(([name]) => names.has(name));
  return {
    ...environment,
    ...ownPlace(environment, settings),
    keys: { ...environment.keys, ...Object.fromEntries(taken) },
    variables: without(names, variables),
  };
}

/** Where the API is and who asks, as one's own settings say under `env`; the surroundings say it before them. */
function ownPlace(
  { credentials, baseUrl, model, smallModel }: Environment,
  { env = {} }: Settings,
): Pick<Environment, 'credentials' | 'baseUrl' | 'model' | 'smallModel'> {
  const said = (name: string) => (env[name]?.trim() ? env[name].trim() : undefined);
  const [apiKey, authToken] = [said('ANTHROPIC_API_KEY'), said('ANTHROPIC_AUTH_TOKEN')];
  const own = { ...(apiKey === undefined ? {} : { apiKey }), ...(authToken === undefined ? {} : { authToken }) };
  return {
    credentials: credentials.apiKey === undefined && credentials.authToken === undefined ? own : credentials,
    baseUrl: baseUrl ?? said('ANTHROPIC_BASE_URL'),
    model: model ?? said('ANTHROPIC_MODEL'),
    smallModel: smallModel ?? said('ANTHROPIC_SMALL_FAST_MODEL') ?? said('ANTHROPIC_DEFAULT_HAIKU_MODEL'),
  };
}

/** What a command, a hook or a script of somebody gets: the surroundings and what the settings add, without keys. */
export function childVariables(environment: Environment, settings: Settings): Readonly<Record<string, string>> {
  return without(keyNames(settings), { ...environment.variables, ...settings.env });
}

/** What the settings add to it, without keys. */
export function settingsVariables(environment: Environment, settings: Settings): Readonly<Record<string, string>> {
  const added = Object.keys(settings.env ?? {});
  return Object.fromEntries(
    Object.entries(childVariables(environment, settings)).filter(([name]) => added.includes(name)),
  );
}

function keyNames({ providers = {} }: Settings): ReadonlySet<string> {
  const named = Object.values(providers).flatMap((provider) => {
    const read = keyed.safeParse(provider);
    return read.success ? [read.data.apiKeyEnv] : [];
  });
  return new Set([...SECRETS, ...named]);
}

function without(
  names: ReadonlySet<string>,
  variables: Readonly<Record<string, string>>,
): Readonly<Record<string, string>> {
  return Object.fromEntries(Object.entries(variables).filter(([name]) => !names.has(name)));
}
