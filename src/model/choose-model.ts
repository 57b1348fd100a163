import { z } from 'zod';
import type { Environment, Limits } from '../contracts/environment.ts';
import type { RunOptions } from '../contracts/face/run-options.ts';
import type { Settings } from '../contracts/settings.ts';
import { DEFAULT_MODEL } from './catalog.ts';
import { choosePort, NO_KEY, type PortChoice, type PortConfig } from './choose-port.ts';
import { isSample } from './demo/place.ts';
import { discoverLocalServers } from './discovery.ts';
import { createKeyHelper } from './keys/key-helper.ts';
import type { Providers } from './model-name.ts';
import { presetKeys } from './presets.ts';
import { createNetworkFetch } from './wire/network-fetch.ts';

/** What the surroundings, the settings and the command line say about models, as one value. */
export function chooseModel(
  options: RunOptions,
  settings: Settings,
  environment: Environment,
  limits: () => Limits,
  stored: { readonly model?: string | undefined; readonly apiKey?: string; readonly cwd?: string | undefined },
): PortChoice {
  const read = readProviders(settings, environment);
  if (!read.ok) return read;
  const model = options.model ?? stored.model ?? environment.model ?? settings.model ?? DEFAULT_MODEL;
  const smallModel = environment.smallModel ?? settings.smallModel;
  const baseUrl = environment.baseUrl ?? settings.baseUrl;
  return choosePort({
    model,
    providers: read.providers,
    ...portLimits(limits),
    ...credentialsOf(settings, environment, stored.apiKey),
    ...(smallModel === undefined ? {} : { smallModel }),
    ...(baseUrl === undefined ? {} : { baseUrl }),
    ...(options.betas === undefined ? {} : { betas: options.betas }),
    demo: demoStage(options, stored.cwd),
    fetch: createNetworkFetch({
      variables: environment.variables,
      keyPassphrase: environment.keys.CLAUDE_CODE_CLIENT_KEY_PASSPHRASE,
    }),
  });
}

/** The demo plays in its own project: where the run is, where its session was, or beside it. */
function demoStage({ cwd, face, demoProject }: RunOptions, storedCwd: string | undefined): PortConfig['demo'] {
  // Only somebody who watches wants to see it typed.
  const timing = face === 'screen' ? {} : { sleep: async () => undefined };
  const own = [storedCwd, cwd].find((dir) => dir !== undefined && isSample(dir));
  const projectDir = own ?? demoProject;
  return projectDir === undefined ? timing : { ...timing, stage: { projectDir, cwd: own ?? cwd } };
}

/** The nearest key wins: the environment's, a helper's, the one that was stored. */
function credentialsOf(
  { apiKeyHelper }: Settings,
  { credentials: { apiKey, authToken }, variables }: Environment,
  storedKey: string | undefined,
): Pick<PortConfig, 'apiKey' | 'onRefusedKey' | 'authToken' | 'keySource'> {
  if (apiKey !== undefined) return { apiKey, keySource: 'ANTHROPIC_API_KEY' };
  if (authToken !== undefined) return { authToken, keySource: 'ANTHROPIC_AUTH_TOKEN' };
  if (apiKeyHelper !== undefined) {
    const helper = createKeyHelper(apiKeyHelper, variables, Date.now);
    return { apiKey: helper.key, onRefusedKey: helper.forget, keySource: 'apiKeyHelper' };
  }
  return storedKey === undefined ? {} : { apiKey: storedKey, keySource: 'stored key' };
}

/** Patience and retries, asked at each request. */
function portLimits(limits: () => Limits): Pick<PortConfig, 'patience' | 'retry'> {
  return {
    patience() {
      const { streamIdleTimeoutMs, headerTimeoutMs } = limits();
      return {
        ...(streamIdleTimeoutMs === undefined ? {} : { idleTimeoutMs: streamIdleTimeoutMs }),
        ...(headerTimeoutMs === undefined ? {} : { headerTimeoutMs }),
      };
    },
    retry: {
      limits() {
        const { maxRetries, retryBaseMs } = limits();
        return { maxRetries, baseMs: retryBaseMs };
      },
    },
  };
}

const provider = z.strictObject({
  baseUrl: z.url({ protocol: /^https?$/, error: 'must be an http or https address' }).optional(),
  apiKey: z.string().min(1).optional(),
  /** The name of a variable that holds the key, so that it need not stand in a file. */
  apiKeyEnv: z.string().min(1).optional(),
  contextWindow: z.int().positive().optional(),
  maxOutputTokens: z.int().positive().optional(),
  vision: z.boolean().optional(),
});
const providers = z.record(z.string(), provider);

type ReadProviders =
  | { readonly ok: true; readonly providers: Providers }
  | { readonly ok: false; readonly problem: string };

/** Servers of other providers, by name: those of the settings, and those whose key the environment holds. */
function readProviders(settings: Settings, { variables, keys, openAi }: Environment): ReadProviders {
  const parsed = providers.safeParse(settings.providers ?? {});
  if (!parsed.success) {
    const [issue] = parsed.error.issues;
    return {
      ok: false,
      problem: `The setting providers${issue === undefined ? '' : `.${issue.path.join('.')}: ${issue.message}`}. Each provider is { "baseUrl": "http://host:port/v1", "apiKeyEnv": "NAME", "contextWindow": 32000 }.`,
    };
  }
  const named = Object.entries(parsed.data).map(([name, { apiKeyEnv, ...server }]) => {
    const apiKey = server.apiKey ?? (apiKeyEnv === undefined ? undefined : (keys[apiKeyEnv] ?? variables[apiKeyEnv]));
    return [name, { ...server, ...(apiKey === undefined ? {} : { apiKey }) }] as const;
  });
  const fromVariables: Providers = { ...Object.fromEntries(presetKeys({ ...variables, ...keys })), openai: openAi };
  const settled = named.map(([name, server]) => [name, { ...fromVariables[name], ...server }] as const);
  return { ok: true, providers: { ...fromVariables, ...Object.fromEntries(settled) } };
}

/** Why there is no model. Where only a key is missing, servers that answer on this machine are named, ready to be used. */
export async function explainNoModel(
  problem: string,
  discover = discoverLocalServers,
): Promise<{ readonly ok: false; readonly problem: string }> {
  if (problem !== NO_KEY) return { ok: false, problem };
  const found = (await discover()).flatMap(({ name, prefix, models: [model] }) =>
    model === undefined ? [] : [`${name} answers on this machine: --model ${prefix}/${model}`],
  );
  return { ok: false, problem: [problem, ...found].join('\n') };
}
