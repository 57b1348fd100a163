import { PERMISSION_MODES } from '../contracts/permission.ts';
import { defineFlag, type FlagTable, JSON_FLAG } from './define-flag.ts';
import { CLI_FLAGS } from './flags.ts';
import { BATCH_ACTION_MAX_ARGS, BATCH_FLAGS, EVAL_FLAGS, WORKER_FLAGS } from './fleet-flags.ts';
import type { ProcessIo } from './process-io.ts';
import type { Shutdown } from './shutdown.ts';

type OperandLimit = number | 'any';

/** A subcommand, as help, completion, the man page and the parser read it. */
export type Subcommand = {
  readonly usage: string;
  readonly description: string;
  /** Values the first argument may have; by default the actions of `operands`. */
  readonly choices?: readonly string[];
  /** The most arguments it takes; by action, the most after the action. More are refused. */
  readonly operands: OperandLimit | Readonly<Record<string, OperandLimit>>;
  readonly flags?: FlagTable;
};

/** The input of a subcommand: its arguments, and its flags before validation. */
export type SubcommandInput = {
  readonly args: readonly string[];
  readonly flags: Readonly<Record<string, unknown>>;
  readonly io: ProcessIo;
  readonly shutdown: Shutdown;
};

const { model, permissionMode, trust, settings, debugFile } = CLI_FLAGS;

/** Every subcommand of `ouro`; `run-subcommand.ts` maps each name to its module. */
export const SUBCOMMANDS = {
  demo: {
    usage: '[prompt…]',
    operands: 'any',
    description: 'try ouro with a scripted model and a small sample project; needs no key',
  },
  models: {
    usage: '[filter…] | update',
    operands: 'any',
    description: 'list available models with price, context window and key; update the model catalogue',
    choices: ['update'],
    flags: { json: JSON_FLAG },
  },
  login: {
    usage: '[provider]',
    operands: 'any',
    description: 'store the key of a provider, typed without echo or read from a pipe',
  },
  logout: { usage: '[provider]', operands: 1, description: 'delete the stored key of a provider' },
  doctor: {
    usage: '',
    operands: 0,
    description: 'check the installation, the settings and the tools ouro depends on',
    flags: {
      live: defineFlag('--live', 'boolean', 'also send one tiny request to each provider'),
      json: JSON_FLAG,
    },
  },
  update: {
    usage: '[version]',
    operands: 1,
    description: 'install the newest version, or another one',
    flags: {
      check: defineFlag('--check', 'boolean', 'only say whether there is a newer version'),
      back: defineFlag('--back', 'boolean', 'return to the version before the last update'),
    },
  },
  uninstall: {
    usage: '',
    operands: 0,
    description: 'remove ouro, and keep sessions and settings',
    flags: {
      all: defineFlag('--all', 'boolean', 'also remove sessions, settings and stored keys'),
      yes: defineFlag('--yes', 'boolean', 'do not ask for confirmation'),
    },
  },
  acp: {
    usage: '',
    operands: 0,
    description: 'serve an editor over the Agent Client Protocol',
    flags: {
      ...{ model, permissionMode, trust, settings, debugFile },
      login: defineFlag('--login', 'boolean', 'store an API key, as ouro login does; editors run this in a terminal'),
    },
  },
  permissions: {
    usage: "explain <Tool> '<input>' | explain --batch [<Tool> [file]] | lint",
    operands: { explain: 'any', lint: 0 },
    description: 'explain what the permission rules decide for a call; find rules without effect',
    flags: {
      mode: defineFlag('--mode <mode>', { oneOf: PERMISSION_MODES }, 'assume this permission mode'),
      allow: { ...defineFlag('--allow <rule>', 'texts', 'assume this allow rule'), default: [] },
      deny: { ...defineFlag('--deny <rule>', 'texts', 'assume this deny rule'), default: [] },
      ask: { ...defineFlag('--ask <rule>', 'texts', 'assume this ask rule'), default: [] },
      cwd: defineFlag('--cwd <dir>', 'text', 'assume this working directory'),
      trust: defineFlag('--trust', 'boolean', 'assume the folder is trusted'),
      json: JSON_FLAG,
      batch: defineFlag(
        '--batch',
        'boolean',
        'explain each line of a file or of stdin: inputs of the tool, or cases as JSON',
      ),
    },
  },
  plugin: {
    usage:
      'list | install | enable | disable | configure | remove | update <name> | validate [dir] | marketplace add|list|remove',
    operands: {
      list: 0,
      install: 'any',
      enable: 1,
      disable: 1,
      configure: 'any',
      remove: 1,
      update: 'any',
      validate: 1,
      marketplace: 2,
    },
    description: 'manage plugins and plugin marketplaces',
    flags: { yes: defineFlag('--yes', 'boolean', 'install, update: enable the plugin immediately') },
  },
  trust: {
    usage: '[dir]',
    operands: 1,
    description: 'trust a folder, which enables its settings, hooks and MCP servers',
    flags: {
      show: defineFlag('--show', 'boolean', 'show what trusting the folder would enable'),
      below: defineFlag('--below', 'boolean', 'also trust every folder below it'),
      list: defineFlag('--list', 'boolean', 'list the trusted folders'),
      revoke: defineFlag('--revoke', 'boolean', 'stop trusting the folder'),
    },
  },
  batch: {
    usage:
      '"<prompt>" --over <dirs> | run <file> | list | status | show | logs | pause | resume | cancel | retry | budget | collect | delete | init',
    operands: BATCH_ACTION_MAX_ARGS,
    description: 'run one prompt over many repositories, folders or files, unattended',
    choices: Object.keys(BATCH_ACTION_MAX_ARGS),
    flags: BATCH_FLAGS,
  },
  worker: {
    usage: '[init | doctor]',
    operands: { init: 0, doctor: 0 },
    description: 'take tasks from a queue and run them on this machine',
    flags: WORKER_FLAGS,
  },
  eval: {
    usage: '[tasks…]',
    operands: 'any',
    description: 'run tasks with one or several models and compare how many they solve, and at what cost',
    flags: EVAL_FLAGS,
  },
  sessions: {
    usage:
      'list | show [id] | search <text> | check [id] | rename <id> <title> | delete <id> | export [id] | capsule [id] | prune',
    operands: {
      list: 0,
      show: 'any',
      search: 'any',
      check: 'any',
      rename: 'any',
      delete: 'any',
      export: 'any',
      capsule: 'any',
      prune: 0,
    },
    description: 'list, read, search, check, export and delete stored sessions',
    flags: {
      all: defineFlag('--all', 'boolean', 'sessions of every folder'),
      json: JSON_FLAG,
      repair: defineFlag('--repair', 'boolean', 'check: rewrite damaged files'),
      format: {
        ...defineFlag(
          '--format <format>',
          { oneOf: ['markdown', 'json', 'html', 'claude'] },
          'export: markdown, json, html, or claude (a transcript as Claude Code writes it)',
        ),
        default: 'markdown',
      },
      output: defineFlag('--output <file>', 'text', 'show, export, capsule: write to a new file'),
      days: {
        ...defineFlag(
          '--days <n>',
          { numberFrom: 0, isWhole: true },
          'prune: delete sessions older than this many days',
        ),
        default: 30,
      },
      dryRun: defineFlag('--dry-run', 'boolean', 'prune: only print how many'),
    },
  },
  undo: {
    usage: '[session] [path…]',
    operands: 'any',
    description: 'undo the file changes of the last prompt, or the last change of the named files and folders',
    flags: {
      session: defineFlag('--session <id>', 'text', 'use this session instead of the newest'),
      list: defineFlag('--list', 'boolean', 'list the prompts that can be undone'),
      to: defineFlag('--to <id>', 'text', 'undo everything since this prompt'),
      redo: defineFlag('--redo', 'boolean', 'redo what the last undo reverted'),
    },
  },
  replay: {
    usage: '<session | file>',
    operands: 'any',
    description: 'rebuild the requests of a session and compare them byte by byte',
    flags: { json: JSON_FLAG },
  },
  settings: {
    usage: 'explain [key] | schema | import [dir]',
    operands: { explain: 1, schema: 0, import: 1 },
    description: 'show each setting with its source; print the JSON schema; import settings from ~/.claude',
    flags: { json: JSON_FLAG },
  },
  import: {
    usage: '[kind or assistant…]',
    operands: 'any',
    description: 'list files and sessions of other assistants; --yes imports them',
    choices: ['settings', 'instructions', 'servers', 'commands', 'sessions'],
    flags: { yes: defineFlag('--yes', 'boolean', 'import what is listed') },
  },
  mcp: {
    usage:
      'list | get | add <name> -- <command> | add-json <name> <json> | add-from-claude-desktop | remove | approve | reject | login | logout | serve',
    operands: {
      list: 0,
      get: 1,
      add: 'any',
      'add-json': 2,
      'add-from-claude-desktop': 'any',
      remove: 1,
      approve: 1,
      reject: 1,
      login: 1,
      logout: 1,
      serve: 0,
    },
    description: 'add, remove, approve and log in to MCP servers; serve the tools of ouro over MCP',
    flags: {
      scope: {
        ...defineFlag(
          '-s, --scope <scope>',
          { oneOf: ['user', 'project', 'local'] },
          'where the server is stored: user, project or local',
        ),
        default: 'user',
      },
      transport: defineFlag(
        '-t, --transport <kind>',
        { oneOf: ['stdio', 'http', 'sse'] },
        'transport: stdio, http or sse',
      ),
      env: { ...defineFlag('-e, --env <NAME=value>', 'texts', 'environment variable for the server'), default: [] },
      clientId: defineFlag('--client-id <id>', 'name', 'OAuth client id, for a server without dynamic registration'),
      clientSecret: defineFlag('--client-secret <secret>', 'name', 'OAuth client secret'),
      callbackPort: defineFlag(
        '--callback-port <port>',
        { numberFrom: 1, isWhole: true },
        'port of the OAuth redirect',
      ),
      http: defineFlag(
        '--http <port>',
        { numberFrom: 0, isWhole: true },
        'serve over HTTP on this loopback port; 0 picks a free one',
      ),
      header: { ...defineFlag('-H, --header <Name: value>', 'texts', 'header sent with every request'), default: [] },
      json: JSON_FLAG,
    },
  },
  completion: {
    usage: '<bash|zsh|fish|man|markdown>',
    operands: 1,
    description: 'print a completion script, the man page, or the page of all flags',
    choices: ['bash', 'zsh', 'fish', 'man', 'markdown'],
  },
  help: { usage: '[topic]', operands: 1, description: 'show help on a topic' },
} as const satisfies Readonly<Record<string, Subcommand>>;

/** The name of a subcommand. */
export type SubcommandName = keyof typeof SUBCOMMANDS;

/** Returns all subcommands, typed as a plain table. */
export const listSubcommands = (): Readonly<Record<string, Subcommand>> => SUBCOMMANDS;
