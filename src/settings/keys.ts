import { z } from 'zod';
import { HOOK_EVENTS } from '../contracts/hook.ts';
import type { JsonValue } from '../contracts/json.ts';
import { EFFORTS } from '../contracts/model.ts';
import { MODES } from '../contracts/permission.ts';
import { once } from '../lib/once.ts';
import { hookGroup } from './schemas/hook-group.ts';
import { mcpServer } from './schemas/mcp-server.ts';

const text = z.string();
const positive = z.number().positive();

/** What the program and its pages say about one key. */
export type KeyFacts = {
  readonly sentence: string;
  /** What holds when nobody sets it, in words. */
  readonly fallback: string;
  /** `now` is from the next prompt on. */
  readonly takesEffect: 'now' | 'next session';
  /** A project may not set it: it is for the user and for managed settings to say. */
  readonly isOwn?: true;
  /** In a project's file it starts or grants something, so each change of it is approved anew. */
  readonly isPower?: true;
  /** A program that drives ouro may write it. */
  readonly isForHosts?: true;
};

const facts = z.registry<KeyFacts>();
type More = Omit<KeyFacts, 'sentence' | 'fallback' | 'takesEffect'>;

function now<Type extends z.ZodType>(type: Type, fallback: string, sentence: string, more: More = {}) {
  return key(type, { sentence, fallback, takesEffect: 'now', ...more });
}

function next<Type extends z.ZodType>(type: Type, fallback: string, sentence: string, more: More = {}) {
  return key(type, { sentence, fallback, takesEffect: 'next session', ...more });
}

function key<Type extends z.ZodType>(type: Type, about: KeyFacts) {
  const schema = type.optional().describe(about.sentence);
  facts.add(schema, about);
  return schema;
}

const flag = z.boolean();
const name = text.min(1);
const texts = z.array(text);
const hosts = z.array(
  text.regex(/^(?:\*|(?:\*\.)?(?:\[[\da-fA-F:.]+\]|[^\s:/@?#*[\]]+))(?::\d{1,5})?$/, 'names no host'),
);
const json: z.ZodType<JsonValue> = z.json();
const isPower = { isPower: true } as const;
const isOwn = { isOwn: true } as const;
const isForHosts = { isForHosts: true } as const;

const permissions = {
  allow: now(texts, 'none', 'Rules of what runs without a question.', isPower),
  ask: now(texts, 'none', 'Rules of what is asked about, even where another rule allows it.'),
  deny: now(texts, 'none', 'Rules of what never runs.'),
  defaultMode: next(z.enum(MODES), 'default', 'The mode a session begins in.', isPower),
  additionalDirectories: now(texts, 'none', 'Folders that belong to the workspace too.', isPower),
  disableBypassPermissionsMode: next(z.literal('disable'), 'not set', 'Takes the mode away that asks nothing.'),
};

const autoMode = {
  maxInARow: now(positive, '20', 'How many calls mode auto allows before a person has to say something.'),
  maxUsd: now(z.number().positive(), '0.5', 'What judging calls may cost in a session, in dollars.'),
};

const sandbox = {
  enabled: now(flag, 'false', 'Shell commands run in a sandbox.'),
  network: now(flag, 'host by host', 'They reach all of the network, or nothing of it.'),
  allowedDomains: now(hosts, 'none', 'Hosts they reach unasked: `example.com`, `*.example.com`, with `:443`.'),
  deniedDomains: now(hosts, 'none', 'Hosts they never reach, with all below them.'),
  strictAllowlist: now(flag, 'false', 'Other hosts than those allowed are refused instead of asked about.'),
  allowUnixSockets: now(texts, 'none', 'Unix sockets they may connect to.'),
  allowAllUnixSockets: now(flag, 'false', 'They may connect to every Unix socket they can see.'),
  allowLocalBinding: now(flag, 'false', 'On macOS: they may listen on and connect to ports of this machine.'),
  allowWrite: now(texts, 'none', 'Paths they may write besides the workspace.'),
  denyRead: now(texts, 'none', 'Paths they may not read.'),
  denyWrite: now(texts, 'none', 'Paths they may not write, wherever those lie.'),
  autoAllow: now(flag, 'false', 'What stays inside the sandbox runs unasked.'),
  failIfUnavailable: now(z.literal(true), 'true', 'Always so: without a sandbox no command runs.'),
};

const timeouts = {
  streamIdleMs: now(positive, '60000; a model of your own 300000', 'How long a reply may be silent.'),
  headerMs: now(positive, '120000; a model of your own 600000', 'How long a reply may take to begin.'),
  retryBaseMs: now(positive, '500', 'The first pause before a request is repeated; later ones are longer.'),
  mcpMs: now(positive, '30000', 'How long an MCP server may take to start.'),
  mcpCallMs: now(positive, '600000', 'How long a call of an MCP server may be silent.'),
  hookMs: now(positive, '60000', 'How long a hook may run that says nothing else.'),
  bashMs: now(positive, '120000', 'How long a shell command may run that says nothing else.'),
  bashMaxMs: now(positive, '600000', 'The longest a shell command may ask for.'),
};

/** Every key of a settings file, in the order people read about them. Each file is held to this one schema. */
export const settingsSchema = z.strictObject({
  $schema: next(text, 'not set', 'Where an editor finds the schema.'),
  model: now(name, 'sonnet', 'The model: opus, sonnet, haiku, or a full id.', isForHosts),
  smallModel: next(
    name,
    'by place',
    'The model for titles, summaries and other side calls; `off`: none are made.',
    isForHosts,
  ),
  fallbackModels: now(texts, 'none', 'Models to try, in order, when the first stays away.'),
  effort: now(z.enum(EFFORTS), 'auto', 'How hard the model thinks; `auto` leaves it to the model.', isForHosts),
  language: now(name, 'the language of the question', 'The language the model answers in.', isForHosts),
  outputStyle: now(text, 'default', 'How the model answers: the name of an output style.', isForHosts),
  permissions: z.strictObject(permissions).optional(),
  autoMode: z.strictObject(autoMode).optional(),
  sandbox: z.strictObject(sandbox).optional(),
  hooks: now(
    z.partialRecord(z.enum(HOOK_EVENTS), z.array(hookGroup)),
    'none',
    'Commands of yours that run at events.',
    isPower,
  ),
  disableAllHooks: now(flag, 'false', 'No hook runs.', isPower),
  env: now(z.record(text, text), 'none', 'Variables for shell commands, hooks and servers.', isPower),
  mcpServers: now(z.record(text, mcpServer), 'none', 'MCP servers by name.', isPower),
  enabledMcpjsonServers: now(texts, 'none', 'Servers of `.mcp.json` that start unasked.', isPower),
  disabledMcpjsonServers: now(texts, 'none', 'MCP servers that do not start.'),
  enabledPlugins: next(
    z.record(text, z.union([flag, texts])),
    'none',
    'Plugins that count, as `name@marketplace`: true. A project names what one may install; nothing is fetched for it.',
    isPower,
  ),
  extraKnownMarketplaces: next(
    z.record(text, json),
    'none',
    'Marketplaces of plugins by name, for `ouro plugin marketplace add NAME`.',
    isPower,
  ),
  timeouts: z.strictObject(timeouts).optional().describe('How long to wait, in milliseconds.'),
  maxRetries: now(z.number().int().min(0), '10', 'How often a failed request is repeated.'),
  autoCompact: now(flag, 'true', 'A long conversation is summarized before it is too long.'),
  autoCompactPercent: now(z.number().min(10).max(95), 'by model', 'How full the window is then.'),
  wakeOnBackground: now(flag, 'true', 'A turn begins by itself when work in the background ends.'),
  cleanupPeriodDays: next(z.number().int().min(1), 'never', 'Sessions older than this are deleted.', isOwn),
  transcriptMirror: next(
    name,
    'none',
    'Where sessions are also kept as Claude Code would: such as `~/.claude`.',
    isOwn,
  ),
  apiKeyHelper: next(text, 'not set', 'A command that prints the API key.', isOwn),
  awsAuthRefresh: next(text, 'not set', 'A command that signs in to AWS again, such as `aws sso login`.', isOwn),
  awsCredentialExport: next(text, 'not set', 'A command that prints credentials of AWS as JSON.', isOwn),
  gcpAuthRefresh: next(text, 'not set', 'A command that signs in to Google Cloud again.', isOwn),
  baseUrl: next(z.url(), 'api.anthropic.com', 'Where the API is.', isOwn),
  providers: next(z.record(text, json), 'none', 'Servers of other models, by name.', isOwn),
  models: next(
    z.record(text, json),
    'none',
    'What models can do and cost, by name; it outranks what the catalogue and their servers say.',
    isOwn,
  ),
  modelCatalogueUrl: next(
    z.url(),
    'https://models.dev/api.json',
    'Where `ouro models update` reads the catalogue of models.',
    isOwn,
  ),
  statusLine: now(
    z.strictObject({
      type: z.literal('command').optional(),
      command: name,
      padding: z.number().int().min(0).max(20).optional(),
    }),
    'ours',
    'A command whose first lines are the status line.',
    isPower,
  ),
  promptSuggestions: now(
    flag,
    'false',
    'After a turn the small model offers a next step, and tab takes it. Each costs a small request.',
  ),
  timestamps: next(flag, 'false', 'The time of day stands behind what you say, and at the end of a turn.'),
  theme: next(text, 'auto', 'The colours of the screen.', isForHosts),
  editorMode: next(z.enum(['normal', 'vim']), 'normal', 'How the composer takes keys.', isForHosts),
  keybindings: next(z.record(text, text), 'as `?` shows', 'Keys of your own, by what they do.'),
  notify: next(z.enum(['auto', 'bell', 'off']), 'auto', 'How the terminal calls you back.', isForHosts),
  title: next(flag, 'true', 'The title of the terminal says what goes on.'),
  banner: next(flag, 'true', 'A few lines of greeting.'),
  progress: next(flag, 'by terminal', "Progress in the terminal's tab or the task bar."),
  ambiguous: next(z.enum(['narrow', 'wide', 'auto']), 'auto', 'The width of signs that are wide in East Asian fonts.'),
  reducedMotion: next(flag, 'false', 'Nothing moves.'),
  ascii: next(flag, 'false', 'No signs beyond ASCII.'),
  accessible: next(flag, 'false', 'Plain lines for screen readers in place of the screen.'),
  wrap: next(z.enum(['words', 'terminal']), 'words', 'Who breaks long lines.'),
  dialogDelayMs: next(z.number().min(0), '400', 'So long nobody may have typed before a question hears keys.', isOwn),
});

export type SettingKey = KeyFacts & { readonly key: string };

/** The table of keys: those of an object by their path, such as `permissions.allow`. */
export const SETTING_KEYS: readonly SettingKey[] = Object.entries(settingsSchema.shape).flatMap(([top, schema]) => {
  const inner = schema.unwrap();
  const about = facts.get(schema);
  if (about !== undefined) return [{ key: top, ...about }];
  return inner instanceof z.ZodObject ? keysOf(top, inner.shape) : [];
});

function keysOf(top: string, shape: Readonly<Record<string, z.ZodType>>): readonly SettingKey[] {
  return Object.entries(shape).flatMap(([below, schema]) => {
    const about = facts.get(schema);
    return about === undefined ? [] : [{ key: `${top}.${below}`, ...about }];
  });
}

/** The keys a sentence can be said about when somebody names this one: itself, or all of an object. */
export function keysNamed(wanted: string): readonly SettingKey[] {
  return SETTING_KEYS.filter(
    ({ key: one }) => one === wanted || one.startsWith(`${wanted}.`) || wanted.startsWith(`${one}.`),
  );
}

/** What holds for a key, in one line. */
export function keyLine({ key: named, sentence, fallback, takesEffect, isOwn: own }: SettingKey): string {
  const from = own === true ? ' Only your own and managed settings may set it.' : '';
  const when =
    takesEffect === 'now' ? 'An edit counts from the next prompt on.' : 'An edit counts from the next session on.';
  return `${named}: ${sentence} Not set: ${fallback}. ${when}${from}`;
}

/** The schema as editors read it (`ouro settings schema`). */
export const publishedSchema = once((): object => {
  return { ...z.toJSONSchema(settingsSchema, { io: 'input' }), title: 'Settings of ouro' };
});
