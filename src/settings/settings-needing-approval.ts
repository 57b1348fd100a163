import { createHash } from 'node:crypto';
import { readdir, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { parse } from 'jsonc-parser';
import { z } from 'zod';
import type { TrustEffect } from '../contracts/frontend/first-run.ts';
import type { HookConfig } from '../contracts/hook.ts';
import { type McpServerConfig, programSandboxSchema } from '../contracts/hook-and-server-schemas.ts';
import type { Settings, SettingsLayer, SettingsProblem } from '../contracts/settings.ts';
import { ignoreMissingFile } from '../lib/errors.ts';
import { readFileOrPipe } from '../lib/files/read-regular-file.ts';
import { omitUndefined } from '../lib/json.ts';
import { createLazy } from '../lib/memoize.ts';
import { describeSandboxRequest } from '../lib/processes/program-check.ts';
import { formatBytes } from '../lib/text/format.ts';
import { listSettingKeys } from './list-setting-keys.ts';

/** Keys that start programs or grant permissions; in a project's settings, every change to them needs approval. */
const APPROVAL_KEYS = listSettingKeys('needsApproval');
const listTopLevelKeys = createLazy(() => APPROVAL_KEYS.filter((name) => !name.includes('.')));
const listPermissionKeys = createLazy(() =>
  APPROVAL_KEYS.flatMap((name) => (name.startsWith('permissions.') ? [name.slice('permissions.'.length)] : [])),
);

function pickApprovalSettings({ permissions = {}, ...settings }: Settings): object {
  const powers = pick(listTopLevelKeys(), settings);
  const granted = pick(listPermissionKeys(), permissions);
  return Object.keys(granted).length === 0 ? powers : { ...powers, permissions: granted };
}

function pick(names: readonly string[], source: object): object {
  return Object.fromEntries(
    Object.entries(source).filter(([key, value]) => names.includes(key) && value !== undefined),
  );
}

/** Computes a fingerprint of the settings that need approval, independent of the order of keys. */
export function fingerprintSettingsGrants(settings: Settings): string {
  const text = JSON.stringify(pickApprovalSettings(settings), (_, value: unknown) =>
    typeof value === 'object' && value !== null && !Array.isArray(value)
      ? Object.fromEntries(Object.entries(value).sort(([a], [b]) => (a < b ? -1 : 1)))
      : value,
  );
  return text === '{}' ? 'nothing' : createHash('sha256').update(text).digest('hex');
}

/** Removes the settings that need approval from a layer, and reports them. */
export function dropSettingsGrants(layer: SettingsLayer): {
  readonly layer: SettingsLayer;
  readonly problems: readonly SettingsProblem[];
} {
  const { permissions, ...rest } = layer.settings;
  const kept = Object.fromEntries(Object.entries(rest).filter(([key]) => !listTopLevelKeys().includes(key)));
  const { deny, ask } = permissions ?? {};
  const denyAndAsk = { ...omitUndefined({ deny, ask }) };
  const keys = listApprovalKeys(layer.settings).join(', ');
  const text = `has changed since this folder was trusted, so these keys are ignored: ${keys}. Review them with "ouro trust --show", approve them with "ouro trust".`;
  return {
    layer: { ...layer, settings: { ...kept, permissions: denyAndAsk } },
    problems: [{ file: layer.file, source: layer.source, line: undefined, text }],
  };
}

function listApprovalKeys({ permissions = {}, ...settings }: Settings): readonly string[] {
  const granted = Object.keys(pick(listPermissionKeys(), permissions)).map((key) => `permissions.${key}`);
  return [...Object.keys(pick(listTopLevelKeys(), settings)), ...granted];
}

/** Describes the effects of settings, for the user to review. */
export function describeSettingsEffects({ file, settings, lineOf }: SettingsLayer): readonly TrustEffect[] {
  const effect = (
    kind: TrustEffect['kind'],
    text: string,
    path: readonly (string | number)[],
    label?: string,
  ): TrustEffect => {
    const line = lineOf(path);
    return { kind, text, file, ...omitUndefined({ label, line }) };
  };
  const { permissions = {}, hooks = {}, env = {}, mcpServers = {}, enabledPlugins = {}, statusLine } = settings;
  const { extraKnownMarketplaces = {} } = settings;
  return [
    ...Object.entries(hooks).flatMap(([event, groups]) =>
      groups.flatMap(({ hooks: all }, group) =>
        all.map((hook, index) =>
          effect('hook', `on ${event}: ${describeHook(hook)}`, ['hooks', event, group, 'hooks', index]),
        ),
      ),
    ),
    ...(settings.disableAllHooks === true
      ? [effect('hook', 'disables all hooks, including your own', ['disableAllHooks'])]
      : []),
    ...Object.entries(mcpServers).map(([name, server]) =>
      effect('server', `${name}: ${describeMcpServerGrants(server)}`, ['mcpServers', name]),
    ),
    ...Object.entries(extraKnownMarketplaces).map(([name, source]) =>
      effect('command', `adds the plugin marketplace ${name}: ${JSON.stringify(source)}`, [
        'extraKnownMarketplaces',
        name,
      ]),
    ),
    ...Object.entries(enabledPlugins).flatMap(([id, isOn]) =>
      isOn === false ? [] : [effect('command', `enables the plugin ${id}, if it is installed`, ['enabledPlugins', id])],
    ),
    ...(settings.enabledMcpjsonServers ?? []).map((name, index) =>
      effect('server', `approves the server ${name} of .mcp.json`, ['enabledMcpjsonServers', index]),
    ),
    ...(statusLine === undefined
      ? []
      : [effect('command', `status line: ${describeStatusLine(statusLine)}`, ['statusLine'])]),
    ...Object.entries(env).map(([name, value]) => effect('variable', `${name}=${value}`, ['env', name])),
    ...(permissions.allow ?? []).map((rule, index) =>
      effect('rule', `allows ${rule}`, ['permissions', 'allow', index], rule),
    ),
    ...(permissions.additionalDirectories ?? []).map((folder, index) =>
      effect('folder', `adds ${folder} to the workspace`, ['permissions', 'additionalDirectories', index], folder),
    ),
    ...(permissions.defaultMode === undefined
      ? []
      : [
          effect(
            'mode',
            `starts in mode ${permissions.defaultMode}`,
            ['permissions', 'defaultMode'],
            `mode ${permissions.defaultMode}`,
          ),
        ]),
  ];
}

/** Describes what a hook runs, and everything it receives or sends. */
function describeHook(hook: HookConfig): string {
  const { command, args = [], url, prompt, server, tool = '', headers, allowedEnvVars = [], input, sandbox } = hook;
  // Shows every field that is set, because the type of the hook decides which one is used.
  const targets = [
    ...(command === undefined ? [] : [[command, ...args].join(' ')]),
    ...(url === undefined ? [] : [url]),
    ...(server === undefined ? [] : [`${server}: ${tool}`]),
    ...(prompt === undefined ? [] : [`prompt: ${prompt}`]),
  ];
  return [
    ...targets,
    ...(headers === undefined ? [] : [`headers: ${formatPairs(headers)}`]),
    ...(allowedEnvVars.length === 0 ? [] : [`may send the variables ${allowedEnvVars.join(', ')}`]),
    ...(input === undefined ? [] : [`input: ${JSON.stringify(input)}`]),
    ...(command === undefined || sandbox === undefined ? [] : [describeSandboxRequest(sandbox)]),
  ].join('; ');
}

const describeStatusLine = ({ command, sandbox }: NonNullable<Settings['statusLine']>) =>
  [command, ...(sandbox === undefined ? [] : [describeSandboxRequest(sandbox)])].join('; ');

/** Describes how an MCP server is started or reached, and everything it receives. */
function describeMcpServerGrants({ command = '', args = [], env, url, headers, oauth, sandbox }: ServerEntry): string {
  return [
    url ?? [command, ...args].join(' '),
    ...(url === undefined || command === '' ? [] : [[command, ...args].join(' ')]),
    ...(env === undefined ? [] : [`env: ${formatPairs(env)}`]),
    ...(headers === undefined ? [] : [`headers: ${formatPairs(headers)}`]),
    ...(oauth === undefined ? [] : [`login: ${JSON.stringify(oauth)}`]),
    ...(sandbox === undefined ? [] : [describeSandboxRequest(sandbox)]),
  ].join('; ');
}

type ServerEntry = {
  readonly [key in 'command' | 'args' | 'env' | 'url' | 'headers' | 'sandbox']?: McpServerConfig[key] | undefined;
} & { readonly oauth?: object | undefined };

function formatPairs(record: Readonly<Record<string, string>>): string {
  return Object.entries(record)
    .map(([name, value]) => `${name}=${value}`)
    .join(', ');
}

const serverSchema = z.lazy(() =>
  z.object({
    command: z.string().optional(),
    args: z.array(z.string()).optional(),
    url: z.string().optional(),
    env: z.record(z.string(), z.string()).optional(),
    headers: z.record(z.string(), z.string()).optional(),
    oauth: z.record(z.string(), z.unknown()).optional(),
    sandbox: programSandboxSchema.optional().catch(undefined),
  }),
);
const serversSchema = z.lazy(() =>
  z.object({ mcpServers: z.record(z.string(), z.unknown()) }).catch({ mcpServers: {} }),
);

const MEMORY_FILES = ['CLAUDE.md', 'AGENTS.md', 'CLAUDE.local.md', '.claude/CLAUDE.md', '.claude/AGENTS.md'];
const EXTENSION_FOLDERS = ['commands', 'skills', 'agents', 'rules', 'output-styles'];

/** Lists what trusting a folder would load or start besides its settings: instructions, extensions and MCP servers. */
export async function listTrustedContent(dir: string): Promise<readonly TrustEffect[]> {
  const [memory, folders, mcp] = await Promise.all([
    Promise.all(MEMORY_FILES.map((name) => describeMemoryFile(join(dir, name), name))),
    Promise.all(EXTENSION_FOLDERS.map((name) => describeFolder(join(dir, '.claude', name), name))),
    describeServers(join(dir, '.mcp.json')),
  ]);
  return [...mcp, ...memory.flat(), ...folders.flat()];
}

async function describeMemoryFile(file: string, name: string): Promise<readonly TrustEffect[]> {
  const entry = await ignoreMissingFile(stat(file));
  if (entry?.isFile() !== true) return [];
  const label = `${name} (${formatBytes(entry.size)})`;
  return [{ kind: 'instructions', text: `${label} is sent to the model`, label, file }];
}

async function describeFolder(folder: string, name: string): Promise<readonly TrustEffect[]> {
  const names = await readdir(folder).catch(() => []);
  return names.length === 0
    ? []
    : [
        {
          kind: 'instructions',
          text: `${name}: ${names.slice(0, 8).join(', ')}${names.length > 8 ? ' …' : ''}`,
          file: folder,
        },
      ];
}

/** Reads the MCP servers of a project file, parsed no further. */
async function readServers(file: string): Promise<Readonly<Record<string, unknown>>> {
  const text = await readFileOrPipe(file).catch(() => undefined);
  return serversSchema.parse(parseJson(text ?? '{}')).mcpServers;
}

/** Reads the MCP servers that the project file of a folder starts. */
export async function readProjectServers(dir: string): Promise<NonNullable<Settings['mcpServers']>> {
  const servers = Object.entries(await readServers(join(dir, '.mcp.json'))).flatMap(([name, entry]) => {
    const { data } = serverSchema.safeParse(entry);
    return data?.command === undefined
      ? []
      : [[name, omitUndefined({ command: data.command, args: data.args, env: data.env })]];
  });
  return Object.fromEntries(servers);
}

async function describeServers(file: string): Promise<readonly TrustEffect[]> {
  return Object.entries(await readServers(file)).map(([name, entry]) => {
    const parsed = serverSchema.safeParse(entry);
    const description = parsed.success ? describeMcpServerGrants(parsed.data) : JSON.stringify(entry);
    return { kind: 'server', text: `${name}: ${description} (asks again before it starts)`, file };
  });
}

/** Parses a file; the parser throws on extremely deep nesting, and such a file is treated as empty. */
function parseJson(text: string): unknown {
  try {
    return parse(text, [], { allowTrailingComma: true });
  } catch {
    return {};
  }
}
