import { z } from 'zod';
import { HOOK_EVENTS } from './hook.ts';
import {
  checkerSchema,
  hookGroupSchema,
  mcpServerSchema,
  pluginConfigsSchema,
  statusLineSchema,
  webSearchSettingsSchema,
} from './hook-and-server-schemas.ts';
import type { JsonValue } from './json.ts';
import { EFFORTS } from './model.ts';
import { PERMISSION_MODES } from './permission.ts';

const text = z.string();
const positive = z.number().positive();
const repetitions = z.number().int().min(2);

/** The description of a settings key, used in the schema, in `/config` and in the docs. */
export type SettingInfo = {
  readonly description: string;
  /** Description of the value used when the key is not set. */
  readonly defaultText: string;
  /** Time at which an edit takes effect; `now` means with the next prompt. */
  readonly takesEffect: 'now' | 'next session';
  /** Only user and managed settings may set it, not a project. */
  readonly isUserOnly?: true;
  /** In a project's settings it starts programs or grants permissions, so every change needs approval. */
  readonly needsApproval?: true;
  /** An SDK host may write it. */
  readonly isHostWritable?: true;
};

const keyInfos = z.registry<SettingInfo>();
type ExtraInfo = Omit<SettingInfo, 'description' | 'defaultText' | 'takesEffect'>;

function liveKey<Type extends z.ZodType>(type: Type, defaultText: string, description: string, more: ExtraInfo = {}) {
  return defineKey(type, { description, defaultText, takesEffect: 'now', ...more });
}

function nextSessionKey<Type extends z.ZodType>(
  type: Type,
  defaultText: string,
  description: string,
  more: ExtraInfo = {},
) {
  return defineKey(type, { description, defaultText, takesEffect: 'next session', ...more });
}

function defineKey<Type extends z.ZodType>(type: Type, info: SettingInfo) {
  const schema = type.optional();
  keyInfos.add(schema, info);
  // Unlike `describe`, this does not create another schema.
  z.globalRegistry.add(schema, { description: info.description });
  return schema;
}

const flag = z.boolean();
const nonEmptyText = text.min(1);
const textList = z.array(text);
const hostList = z.array(
  text.regex(/^(?:\*|(?:\*\.)?(?:\[[\da-fA-F:.]+\]|[^\s:/@?#*[\]]+))(?::\d{1,5})?$/, 'is not a host pattern'),
);
const jsonValue: z.ZodType<JsonValue> = z.json();
const isPower: ExtraInfo = { needsApproval: true };
const isOwn: ExtraInfo = { isUserOnly: true };
const isForHosts: ExtraInfo = { isHostWritable: true };

const permissions = {
  allow: liveKey(textList, 'none', 'Rules for calls that run without asking.', isPower),
  ask: liveKey(textList, 'none', 'Rules for calls that always ask, even when another rule allows them.'),
  deny: liveKey(textList, 'none', 'Rules for calls that never run.'),
  defaultMode: nextSessionKey(
    z.enum(PERMISSION_MODES),
    'default',
    'The permission mode at the start of a session.',
    isPower,
  ),
  additionalDirectories: liveKey(textList, 'none', 'Additional folders of the workspace.', isPower),
  disableBypassPermissionsMode: nextSessionKey(
    z.literal('disable'),
    'not set',
    'Disables the mode that bypasses permissions.',
  ),
};

const autoMode = {
  maxInARow: liveKey(positive, '20', 'How many calls in a row auto mode may allow before the user is asked.'),
  maxUsd: liveKey(
    z.number().positive(),
    '0.5',
    'Maximum cost of reviewing calls in auto mode per session, in dollars.',
  ),
};

const sandbox = {
  enabled: liveKey(flag, 'false', 'Run shell commands in a sandbox.'),
  network: liveKey(flag, 'ask per host', 'Allow or deny all network access of sandboxed commands.'),
  allowedDomains: liveKey(
    hostList,
    'none',
    'Hosts allowed without asking: `example.com`, `*.example.com`, with `:443`.',
  ),
  deniedDomains: liveKey(hostList, 'none', 'Hosts that are always denied, with all their subdomains.'),
  strictAllowlist: liveKey(flag, 'false', 'Deny hosts outside `allowedDomains` instead of asking.'),
  allowUnixSockets: liveKey(textList, 'none', 'Unix sockets that sandboxed commands may connect to.'),
  allowAllUnixSockets: liveKey(flag, 'false', 'Allow connections to every visible Unix socket.'),
  allowLocalBinding: liveKey(flag, 'false', 'On macOS, allow listening on and connecting to local ports.'),
  allowRead: liveKey(textList, 'none', 'Hidden paths of the home folder that sandboxed commands may read.'),
  allowWrite: liveKey(textList, 'none', 'Writable paths besides the workspace.'),
  allowEnv: liveKey(textList, 'none', 'Variables that look like secrets and that sandboxed commands may read.'),
  denyRead: liveKey(textList, 'none', 'Paths that sandboxed commands may not read.'),
  denyWrite: liveKey(textList, 'none', 'Paths that sandboxed commands may not write, even inside the workspace.'),
  autoAllow: liveKey(flag, 'false', 'Run commands that stay inside the sandbox without asking.'),
  failIfUnavailable: liveKey(z.literal(true), 'true', 'Always true: without a sandbox, no command runs.'),
};

/** Timeouts in milliseconds; each is also an environment variable. */
const timeouts = {
  streamIdleMs: liveKey(positive, '60000; custom providers 300000', 'Longest silence within a reply.'),
  headerMs: liveKey(positive, '120000; custom providers 600000', 'Longest wait for a reply to start.'),
  retryBaseMs: liveKey(positive, '500', 'Delay before the first retry of a request; later delays are longer.'),
  mcpMs: liveKey(positive, '30000', 'Startup timeout of MCP servers.'),
  mcpCallMs: liveKey(positive, '600000', 'Longest silence during a call of an MCP tool.'),
  hookMs: liveKey(positive, '60000', 'Default timeout of hooks.'),
  bashMs: liveKey(positive, '120000', 'Default timeout of shell commands.'),
  bashMaxMs: liveKey(positive, '600000', 'Longest timeout a shell command may request.'),
};

const loopGuard = {
  enabled: liveKey(flag, 'true', 'Watch for a model that repeats itself.'),
  remindAfter: liveKey(repetitions, '3', 'Repetitions after which the model is reminded.'),
  stopAfter: liveKey(repetitions, '8', 'Repetitions after which you are asked; without an answer the run ends.'),
};

/** The schema of a settings file, with its keys in the order of the docs. */
export const settingsSchema = z.strictObject({
  $schema: nextSessionKey(text, 'not set', 'URL of the JSON schema, for editors.'),
  model: liveKey(nonEmptyText, 'sonnet', 'The model: opus, sonnet, haiku, or a full id.', isForHosts),
  smallModel: nextSessionKey(
    nonEmptyText,
    'by provider',
    'The model for titles, summaries and other background requests; `off` disables them.',
    isForHosts,
  ),
  fallbackModels: liveKey(textList, 'none', 'Fallback models, tried in order when the first is unavailable.'),
  effort: liveKey(z.enum(EFFORTS), 'auto', 'How hard the model thinks; `auto` leaves it to the model.', isForHosts),
  language: liveKey(nonEmptyText, 'the language of the question', 'The language the model answers in.', isForHosts),
  outputStyle: liveKey(text, 'default', 'Name of the output style for answers.', isForHosts),
  instructionFiles: nextSessionKey(textList, 'none', 'Further instruction files, by path or glob: `.cursor/rules/*`.'),
  permissions: z.strictObject(permissions).optional(),
  autoMode: z.strictObject(autoMode).optional(),
  sandbox: z.strictObject(sandbox).optional(),
  hooks: liveKey(
    z.partialRecord(z.enum(HOOK_EVENTS), z.array(hookGroupSchema)),
    'none',
    'Commands that run on events.',
    isPower,
  ),
  disableAllHooks: liveKey(flag, 'false', 'Disables all hooks.', isPower),
  env: liveKey(
    z.record(text, text),
    'none',
    'Environment variables for shell commands, hooks and MCP servers.',
    isPower,
  ),
  projectVariables: liveKey(textList, 'none', 'Further variables that the `env` of a project may set.', isOwn),
  mcpServers: liveKey(z.record(text, mcpServerSchema), 'none', 'MCP servers by name.', isPower),
  formatter: liveKey(
    checkerSchema,
    'none',
    'Formats changed files at the end of a turn: `auto`, or a command line that gets the files.',
    isOwn,
  ),
  linter: liveKey(checkerSchema, 'none', 'Checks changed files after a turn: `auto`, `fix`, or a command line.', isOwn),
  projectPrograms: liveKey(flag, 'false', 'Uses checkers in `node_modules/.bin`, once approved.', isOwn),
  languageServers: liveKey(
    z.record(text, jsonValue),
    'installed ones',
    'Language servers by name, as plugins define them; `false` disables an installed one.',
    isOwn,
  ),
  enabledMcpjsonServers: liveKey(textList, 'none', 'Servers in `.mcp.json` that start without asking.', isPower),
  disabledMcpjsonServers: liveKey(textList, 'none', 'MCP servers that do not start.'),
  enabledPlugins: nextSessionKey(
    z.record(text, z.union([flag, textList])),
    'none',
    'Enabled plugins, as `name@marketplace`: true. A project can only suggest plugins; nothing is installed for it.',
    isPower,
  ),
  pluginConfigs: nextSessionKey(pluginConfigsSchema, 'none', 'Options of plugins (`ouro plugin configure`).', isOwn),
  extraKnownMarketplaces: nextSessionKey(
    z.record(text, jsonValue),
    'none',
    'Marketplaces of plugins by name, for `ouro plugin marketplace add NAME`.',
    isPower,
  ),
  timeouts: z.strictObject(timeouts).optional().describe('Timeouts in milliseconds.'),
  maxRetries: liveKey(z.number().int().min(0), '10', 'How often a failed request is retried.'),
  loopGuard: z.strictObject(loopGuard).optional().describe('Limits for a model that repeats itself.'),
  commandTrial: liveKey(z.enum(['off', 'on']), 'off', 'Try commands in a throw-away layer before asking.', isOwn),
  autoCompact: liveKey(flag, 'true', 'Compact a conversation before it exceeds the context window.'),
  autoCompactPercent: liveKey(
    z.number().min(10).max(95),
    'by model',
    'Fill level of the context window at which it is compacted, in percent.',
  ),
  wakeOnBackground: liveKey(flag, 'true', 'Start a turn when a background task ends.'),
  autoConnectIde: nextSessionKey(flag, 'true', 'Connect to the editor that has the folder open.', isOwn),
  cleanupPeriodDays: nextSessionKey(
    z.number().int().min(1),
    'never',
    'Delete sessions older than this many days.',
    isOwn,
  ),
  transcriptMirror: nextSessionKey(
    nonEmptyText,
    'none',
    'Folder for copies of sessions in the format of Claude Code, such as `~/.claude`.',
    isOwn,
  ),
  apiKeyHelper: nextSessionKey(text, 'not set', 'A command that prints the API key.', isOwn),
  awsAuthRefresh: nextSessionKey(
    text,
    'not set',
    'A command that signs in to AWS again, such as `aws sso login`.',
    isOwn,
  ),
  awsCredentialExport: nextSessionKey(text, 'not set', 'A command that prints AWS credentials as JSON.', isOwn),
  gcpAuthRefresh: nextSessionKey(text, 'not set', 'A command that signs in to Google Cloud again.', isOwn),
  baseUrl: nextSessionKey(z.url(), 'api.anthropic.com', 'Base URL of the API.', isOwn),
  providers: nextSessionKey(z.record(text, jsonValue), 'none', 'Custom model providers, by name.', isOwn),
  models: nextSessionKey(
    z.record(text, jsonValue),
    'none',
    'Capabilities and prices of models, by name; they override the catalogue and the providers.',
    isOwn,
  ),
  webSearch: nextSessionKey(webSearchSettingsSchema, 'by the model', 'Provider of web searches.', isOwn),
  modelCatalogueUrl: nextSessionKey(
    z.url(),
    'https://models.dev/api.json',
    'URL of the model catalogue for `ouro models update`.',
    isOwn,
  ),
  statusLine: liveKey(
    statusLineSchema,
    'built-in',
    'A command whose first lines of output are the status line.',
    isPower,
  ),
  promptSuggestions: liveKey(
    flag,
    'false',
    'Suggest a next prompt after a turn, accepted with tab. Each suggestion costs a request to the small model.',
  ),
  callSummaries: liveKey(flag, 'false', 'Describe three or more calls in a line, by a request to the small model.'),
  timestamps: nextSessionKey(flag, 'false', 'Show the time after your messages and at the end of a turn.'),
  theme: nextSessionKey(text, 'auto', 'Colour theme.', isForHosts),
  editorMode: nextSessionKey(z.enum(['normal', 'vim']), 'normal', 'Key bindings of the prompt editor.', isForHosts),
  keybindings: nextSessionKey(z.record(text, text), 'see `?`', 'Custom keys, by action.'),
  notify: nextSessionKey(z.enum(['auto', 'bell', 'off']), 'auto', 'How the terminal notifies you.', isForHosts),
  title: nextSessionKey(flag, 'true', 'Show the current activity in the terminal title.'),
  banner: nextSessionKey(flag, 'true', 'Show a banner at the start.'),
  progress: nextSessionKey(flag, 'by terminal', 'Show progress in the terminal tab or the task bar.'),
  ambiguous: nextSessionKey(
    z.enum(['narrow', 'wide', 'auto']),
    'auto',
    'Width of characters that are wide in East Asian fonts.',
  ),
  reducedMotion: nextSessionKey(flag, 'false', 'Disable animations.'),
  ascii: nextSessionKey(flag, 'false', 'Use only ASCII characters.'),
  accessible: nextSessionKey(flag, 'false', 'Print plain lines for screen readers instead of the full screen.'),
  wrap: nextSessionKey(z.enum(['words', 'terminal']), 'words', 'Wrap long lines at words, or let the terminal do it.'),
  dialogDelayMs: nextSessionKey(
    z.number().min(0),
    '400',
    'Pause in typing after which a dialog accepts keys, in milliseconds.',
    isOwn,
  ),
});

/** A settings key with its description. */
export type SettingKey = SettingInfo & { readonly key: string };

/** All settings keys; keys of nested objects are given by path, such as `permissions.allow`. */
export const SETTING_KEYS: readonly SettingKey[] = listKeys('', settingsSchema.shape);

function listKeys(prefix: string, shape: Readonly<Record<string, z.ZodType>>): readonly SettingKey[] {
  const keys: SettingKey[] = [];
  for (const [name, schema] of Object.entries(shape)) {
    const key = `${prefix}${name}`;
    const info = keyInfos.get(schema);
    const inner = schema instanceof z.ZodOptional ? schema.unwrap() : schema;
    if (info !== undefined) keys.push({ key, ...info });
    else if (prefix === '' && inner instanceof z.ZodObject) keys.push(...listKeys(`${key}.`, inner.shape));
  }
  return keys;
}
