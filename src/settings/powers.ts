import { createHash } from 'node:crypto';
import type { TrustEffect } from '../contracts/face/trust.ts';
import type { HookConfig, McpServerConfig, Settings, SettingsLayer, SettingsProblem } from '../contracts/settings.ts';
import { SETTING_KEYS } from './keys.ts';

/** Keys of a project's settings that start programs or grant something: each change of theirs is approved anew. */
const NAMES = SETTING_KEYS.filter((row) => row.isPower).map(({ key }) => key);
const POWERS = NAMES.filter((name) => !name.includes('.'));
const GRANTS = NAMES.filter((name) => name.startsWith('permissions.')).map((name) => name.slice('permissions.'.length));

/** Everything in the settings that needs approval; empty when nothing does. */
function powersOf({ permissions = {}, ...settings }: Settings): object {
  const powers = only(POWERS, settings);
  const granted = only(GRANTS, permissions);
  return Object.keys(granted).length === 0 ? powers : { ...powers, permissions: granted };
}

function only(names: readonly string[], whole: object): object {
  return Object.fromEntries(Object.entries(whole).filter(([key, value]) => names.includes(key) && value !== undefined));
}

/** A fingerprint of what needs approval, the same for every order of keys. */
export function powersMark(settings: Settings): string {
  const text = JSON.stringify(powersOf(settings), (_, value: unknown) =>
    typeof value === 'object' && value !== null && !Array.isArray(value)
      ? Object.fromEntries(Object.entries(value).sort(([a], [b]) => (a < b ? -1 : 1)))
      : value,
  );
  return text === '{}' ? 'nothing' : createHash('sha256').update(text).digest('hex');
}

/** The layer without what needs approval, and a sentence about it. */
export function withoutPowers(layer: SettingsLayer): {
  readonly layer: SettingsLayer;
  readonly problems: readonly SettingsProblem[];
} {
  const { permissions, ...rest } = layer.settings;
  const kept = Object.fromEntries(Object.entries(rest).filter(([key]) => !POWERS.includes(key)));
  const { deny, ask } = permissions ?? {};
  const tight = { ...(deny === undefined ? {} : { deny }), ...(ask === undefined ? {} : { ask }) };
  const named = namesOf(layer.settings).join(', ');
  const text = `has changed since this folder was trusted, so ${named} do not count. Look at it with "ouro trust --show", approve it with "ouro trust".`;
  return {
    layer: { ...layer, settings: { ...kept, permissions: tight } },
    problems: [{ file: layer.file, source: layer.source, line: undefined, text }],
  };
}

function namesOf({ permissions = {}, ...settings }: Settings): readonly string[] {
  const granted = Object.keys(only(GRANTS, permissions)).map((key) => `permissions.${key}`);
  return [...Object.keys(only(POWERS, settings)), ...granted];
}

/** What the settings would bring about, for people to judge. */
export function effectsOf({ file, settings, lineOf }: SettingsLayer): readonly TrustEffect[] {
  const effect = (kind: TrustEffect['kind'], text: string, path: readonly (string | number)[]): TrustEffect => {
    const line = lineOf(path);
    return { kind, text, file, ...(line === undefined ? {} : { line }) };
  };
  const { permissions = {}, hooks = {}, env = {}, mcpServers = {}, enabledPlugins = {}, statusLine } = settings;
  const { extraKnownMarketplaces = {} } = settings;
  return [
    ...Object.entries(hooks).flatMap(([event, groups]) =>
      groups.flatMap(({ hooks: all }, group) =>
        all.map((hook, at) =>
          effect('hook', `at ${event} ${hook.type === 'command' ? 'runs ' : ''}${hookWords(hook)}`, [
            'hooks',
            event,
            group,
            'hooks',
            at,
          ]),
        ),
      ),
    ),
    ...(settings.disableAllHooks === true
      ? [effect('hook', 'switches all hooks off, yours too', ['disableAllHooks'])]
      : []),
    ...Object.entries(mcpServers).map(([name, server]) =>
      effect('server', `${name}: ${serverWords(server)}`, ['mcpServers', name]),
    ),
    ...Object.entries(extraKnownMarketplaces).map(([name, said]) =>
      effect('command', `names ${name} as a marketplace of plugins: ${JSON.stringify(said)}`, [
        'extraKnownMarketplaces',
        name,
      ]),
    ),
    ...Object.entries(enabledPlugins).flatMap(([id, isOn]) =>
      isOn === false
        ? []
        : [effect('command', `switches on the plugin ${id}, if you have installed it`, ['enabledPlugins', id])],
    ),
    ...(settings.enabledMcpjsonServers ?? []).map((name, at) =>
      effect('server', `approves ${name} of .mcp.json`, ['enabledMcpjsonServers', at]),
    ),
    ...(statusLine === undefined ? [] : [effect('command', `status line runs ${statusLine.command}`, ['statusLine'])]),
    ...Object.entries(env).map(([name, value]) => effect('variable', `${name}=${value}`, ['env', name])),
    ...(permissions.allow ?? []).map((rule, at) => effect('rule', `allows ${rule}`, ['permissions', 'allow', at])),
    ...(permissions.additionalDirectories ?? []).map((folder, at) =>
      effect('folder', `adds ${folder} to the workspace`, ['permissions', 'additionalDirectories', at]),
    ),
    ...(permissions.defaultMode === undefined
      ? []
      : [effect('mode', `begins in mode ${permissions.defaultMode}`, ['permissions', 'defaultMode'])]),
  ];
}

/** What a hook does, with all it is given besides and where it sends what. */
function hookWords(hook: HookConfig): string {
  const { command, args = [], url, prompt, server, tool = '', headers, allowedEnvVars = [], input } = hook;
  // Whatever stands in it: which part counts is the hook's to say.
  const whole = [
    ...(command === undefined ? [] : [[command, ...args].join(' ')]),
    ...(url === undefined ? [] : [url]),
    ...(server === undefined ? [] : [`${server}: ${tool}`]),
    ...(prompt === undefined ? [] : [`asks: ${prompt}`]),
  ];
  return [
    ...whole,
    ...(headers === undefined ? [] : [`sends ${pairs(headers)}`]),
    ...(allowedEnvVars.length === 0 ? [] : [`may send the variables ${allowedEnvVars.join(', ')}`]),
    ...(input === undefined ? [] : [`given ${JSON.stringify(input)}`]),
  ].join('; ');
}

/** How a server of a settings file is started or reached, with what it is given: that decides what it does, too. */
export function serverWords({ command = '', args = [], env, url, headers, oauth }: ServerEntry): string {
  return [
    url ?? [command, ...args].join(' '),
    ...(url === undefined || command === '' ? [] : [[command, ...args].join(' ')]),
    ...(env === undefined ? [] : [`given ${pairs(env)}`]),
    ...(headers === undefined ? [] : [`sends ${pairs(headers)}`]),
    ...(oauth === undefined ? [] : [`logs in by ${JSON.stringify(oauth)}`]),
  ].join('; ');
}

type ServerEntry = {
  readonly [key in 'command' | 'args' | 'env' | 'url' | 'headers']?: McpServerConfig[key] | undefined;
} & { readonly oauth?: object | undefined };

function pairs(record: Readonly<Record<string, string>>): string {
  return Object.entries(record)
    .map(([name, value]) => `${name}=${value}`)
    .join(', ');
}
