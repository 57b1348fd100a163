import { MODES } from '../../contracts/permission.ts';
import type { Io } from '../io.ts';
import type { Shutdown } from '../shutdown.ts';
import { type FlagTable, flag, json } from './flag.ts';
import { FLAGS } from './flags.ts';
import { BATCH_FLAGS, WORKER_FLAGS } from './fleet-flags.ts';

/** One subcommand as help, completion, man page and parser see it. */
export type Subcommand = {
  readonly usage: string;
  readonly words: string;
  /** What the first word behind it may be. */
  readonly choices?: readonly string[];
  readonly flags?: FlagTable;
};

/** What a subcommand is given: its words, and its flags as they were written. */
export type CommandRequest = {
  readonly words: readonly string[];
  readonly flags: Readonly<Record<string, unknown>>;
  readonly io: Io;
  readonly shutdown: Shutdown;
};

const { model, permissionMode, trust, settings, debugFile } = FLAGS;

/** Everything `ouro <word>` can be besides a prompt. `dispatch.ts` knows where each lives. */
export const SUBCOMMANDS = {
  demo: {
    usage: '[words…]',
    words: 'look around with a scripted model and a small sample project, no key needed',
  },
  models: {
    usage: '[words…] | update',
    words: 'the models that can be used here, with price, window and key; read the catalogue anew',
    choices: ['update'],
    flags: { json },
  },
  login: { usage: '[place]', words: 'store the key of a place: asked for unseen, or read from a pipe' },
  logout: { usage: '[place]', words: 'forget a stored key' },
  doctor: {
    usage: '',
    words: 'look at everything ouro depends on',
    flags: {
      live: flag('--live', 'nothing', 'also ask one model of each place for a word, which costs next to nothing'),
      json,
    },
  },
  acp: {
    usage: '',
    words: 'serve an editor over the Agent Client Protocol',
    flags: { model, permissionMode, trust, settings, debugFile },
  },
  permissions: {
    usage: "explain <Tool> '<input>' | explain --batch | lint",
    words: 'say what the rules decide, and why; find rules without effect',
    choices: ['explain', 'lint'],
    flags: {
      mode: flag('--mode <mode>', { oneOf: MODES }, 'as if in this mode'),
      allow: { ...flag('--allow <rule>', 'texts', 'as if this were allowed'), default: [] },
      deny: { ...flag('--deny <rule>', 'texts', 'as if this were denied'), default: [] },
      ask: { ...flag('--ask <rule>', 'texts', 'as if this were to be asked'), default: [] },
      cwd: flag('--cwd <dir>', 'text', 'as if in this folder'),
      trust: flag('--trust', 'nothing', 'as if the folder were trusted'),
      json,
      batch: flag('--batch', 'nothing', 'read cases from stdin, one JSON object a line'),
    },
  },
  plugin: {
    usage: 'list | install | enable | disable | remove | update <name> | validate [dir] | marketplace add|list|remove',
    words: 'plugins and the marketplaces they come from',
    choices: ['list', 'install', 'enable', 'disable', 'remove', 'update', 'validate', 'marketplace'],
    flags: { yes: flag('--yes', 'nothing', 'install, update: let it count at once') },
  },
  trust: {
    usage: '[dir]',
    words: 'trust a folder with the settings, hooks and servers it brings',
    flags: {
      show: flag('--show', 'nothing', 'only say what it would bring about'),
      below: flag('--below', 'nothing', 'trust every folder below it too'),
      list: flag('--list', 'nothing', 'which folders are trusted'),
      revoke: flag('--revoke', 'nothing', 'no longer trust it'),
    },
  },
  batch: {
    usage:
      '"<prompt>" --over <dirs> | run <file> | list | status | show | logs | pause | resume | cancel | retry | budget | collect | delete | init',
    words: 'one prompt over many repositories, folders or files, unattended',
    choices: [
      'run',
      'list',
      'status',
      'show',
      'logs',
      'pause',
      'resume',
      'cancel',
      'retry',
      'budget',
      'collect',
      'delete',
      'init',
    ],
    flags: BATCH_FLAGS,
  },
  worker: {
    usage: '[init | doctor]',
    words: 'take tasks from a queue and run them on this machine',
    choices: ['init', 'doctor'],
    flags: WORKER_FLAGS,
  },
  sessions: {
    usage:
      'list | show [id] | search <words> | check [id] | rename <id> <title> | delete <id> | export [id] | capsule [id] | prune',
    words: 'stored sessions: find, read, check, export and clear them',
    choices: ['list', 'show', 'search', 'check', 'rename', 'delete', 'export', 'capsule', 'prune'],
    flags: {
      all: flag('--all', 'nothing', 'those of every folder'),
      json,
      repair: flag('--repair', 'nothing', 'check: write damaged files anew'),
      format: {
        ...flag(
          '--format <format>',
          { oneOf: ['markdown', 'json', 'html', 'claude'] },
          'export: markdown, json, html, or claude: a transcript as Claude Code writes it',
        ),
        default: 'markdown',
      },
      output: flag('--output <file>', 'text', 'show, export, capsule: into a new file'),
      days: {
        ...flag('--days <n>', { numberFrom: 0, isWhole: true }, 'prune: older than so many days'),
        default: 30,
      },
      dryRun: flag('--dry-run', 'nothing', 'prune: only say how many'),
    },
  },
  undo: {
    usage: '',
    words: 'take back what the last prompt changed in files',
    flags: {
      session: flag('--session <id>', 'text', 'of this session instead of the newest'),
      list: flag('--list', 'nothing', 'only list the prompts that can be gone back to'),
      to: flag('--to <id>', 'text', 'everything since this prompt'),
      redo: flag('--redo', 'nothing', 'bring back what the last undo took'),
    },
  },
  replay: {
    usage: '<session | file>',
    words: 'build the requests of a session anew and compare every byte',
    flags: { json },
  },
  settings: {
    usage: 'explain [key] | schema | import [dir]',
    words: 'each setting with the place it comes from; the schema for editors; copy those of ~/.claude',
    choices: ['explain', 'schema', 'import'],
    flags: { json },
  },
  mcp: {
    usage:
      'list | get | add <name> -- <command> | add-json <name> <json> | add-from-claude-desktop | remove | approve | reject | login | logout | serve',
    words: 'MCP servers: add and remove them, approve, log in; serve our tools',
    choices: [
      'list',
      'get',
      'add',
      'add-json',
      'add-from-claude-desktop',
      'remove',
      'approve',
      'reject',
      'login',
      'logout',
      'serve',
    ],
    flags: {
      scope: {
        ...flag('-s, --scope <scope>', { oneOf: ['user', 'project', 'local'] }, 'user, project or local'),
        default: 'user',
      },
      transport: flag('-t, --transport <kind>', { oneOf: ['stdio', 'http', 'sse'] }, 'stdio, http or sse'),
      env: { ...flag('-e, --env <NAME=value>', 'texts', 'a variable of its environment'), default: [] },
      clientId: flag('--client-id <id>', 'name', 'who we are to a server that registers nobody by itself'),
      clientSecret: flag('--client-secret <secret>', 'name', 'the secret that goes with it'),
      callbackPort: flag(
        '--callback-port <port>',
        { numberFrom: 1, isWhole: true },
        'the port its login comes back to',
      ),
      http: flag('--http <port>', { numberFrom: 0, isWhole: true }, 'serve over HTTP on this port of loopback; 0: any'),
      header: { ...flag('-H, --header <Name: value>', 'texts', 'a header of every request'), default: [] },
      json,
    },
  },
  completion: {
    usage: '<bash|zsh|fish|man|markdown>',
    words: 'print a completion script, the man page, or the page of all flags',
    choices: ['bash', 'zsh', 'fish', 'man', 'markdown'],
  },
  help: { usage: '[topic]', words: 'more about a topic' },
} as const satisfies Readonly<Record<string, Subcommand>>;

export type SubcommandName = keyof typeof SUBCOMMANDS;

/** The same table without the exact words. */
export const subcommands = (): Readonly<Record<string, Subcommand>> => SUBCOMMANDS;
