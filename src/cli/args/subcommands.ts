/** One subcommand as help, completion, man page and parser see it. */
export type Subcommand = {
  readonly name: string;
  readonly usage: string;
  readonly words: string;
  /** What the first word behind it may be. */
  readonly choices?: readonly string[];
  readonly flags?: readonly {
    readonly flags: string;
    readonly words: string;
    /** May be given several times, one value each. */
    readonly many?: 'many';
  }[];
};

/** Everything `ouro <word>` can be besides a prompt. `load-command.ts` knows where each lives. */
const SUBCOMMANDS = [
  {
    name: 'demo',
    usage: '[words…]',
    words: 'look around with a scripted model and a small sample project, no key needed',
  },
  {
    name: 'doctor',
    usage: '',
    words: 'look at everything ouro depends on',
    flags: [{ flags: '--json', words: 'as JSON' }],
  },
  {
    name: 'acp',
    usage: '',
    words: 'serve an editor over the Agent Client Protocol',
    flags: [
      { flags: '--model <name>', words: 'the model of its sessions' },
      { flags: '--permission-mode <mode>', words: 'the mode they start in' },
      { flags: '--trust', words: 'trust the folders of its sessions for this run' },
      { flags: '--settings <file-or-json>', words: 'settings for this run' },
      { flags: '--debug-file <file>', words: 'write what happens to this file' },
    ],
  },
  {
    name: 'permissions',
    usage: "explain <Tool> '<input>' | explain --batch | lint",
    words: 'say what the rules decide, and why; find rules without effect',
    choices: ['explain', 'lint'],
    flags: [
      { flags: '--mode <mode>', words: 'as if in this mode' },
      { flags: '--allow <rule>', words: 'as if this were allowed', many: 'many' },
      { flags: '--deny <rule>', words: 'as if this were denied', many: 'many' },
      { flags: '--ask <rule>', words: 'as if this were to be asked', many: 'many' },
      { flags: '--cwd <dir>', words: 'as if in this folder' },
      { flags: '--trust', words: 'as if the folder were trusted' },
      { flags: '--json', words: 'as JSON' },
      { flags: '--batch', words: 'read cases from stdin, one JSON object a line' },
    ],
  },
  {
    name: 'trust',
    usage: '[dir]',
    words: 'trust a folder with the settings, hooks and servers it brings',
    flags: [
      { flags: '--show', words: 'only say what it would bring about' },
      { flags: '--below', words: 'trust every folder below it too' },
      { flags: '--list', words: 'which folders are trusted' },
      { flags: '--revoke', words: 'no longer trust it' },
    ],
  },
  {
    name: 'sessions',
    usage:
      'list | show [id] | search <words> | check [id] | rename <id> <title> | delete <id> | export [id] | capsule [id] | prune',
    words: 'stored sessions: find, read, check, export and clear them',
    choices: ['list', 'show', 'search', 'check', 'rename', 'delete', 'export', 'capsule', 'prune'],
    flags: [
      { flags: '--all', words: 'those of every folder' },
      { flags: '--json', words: 'as JSON' },
      { flags: '--repair', words: 'check: write damaged files anew' },
      { flags: '--format <format>', words: 'export: markdown, json or html' },
      { flags: '--output <file>', words: 'show, export, capsule: into a new file' },
      { flags: '--days <n>', words: 'prune: older than so many days (30)' },
      { flags: '--dry-run', words: 'prune: only say how many' },
    ],
  },
  {
    name: 'undo',
    usage: '',
    words: 'take back what the last prompt changed in files',
    flags: [
      { flags: '--session <id>', words: 'of this session instead of the newest' },
      { flags: '--list', words: 'only list the prompts that can be gone back to' },
      { flags: '--to <id>', words: 'everything since this prompt' },
      { flags: '--redo', words: 'bring back what the last undo took' },
    ],
  },
  {
    name: 'replay',
    usage: '<session | file>',
    words: 'build the requests of a session anew and compare every byte',
    flags: [{ flags: '--json', words: 'as JSON' }],
  },
  {
    name: 'settings',
    usage: 'explain [key] | schema | import [dir]',
    words: 'each setting with the place it comes from; the schema for editors; copy those of ~/.claude',
    choices: ['explain', 'schema', 'import'],
    flags: [{ flags: '--json', words: 'as JSON' }],
  },
  {
    name: 'mcp',
    usage: 'list | get | add <name> -- <command> | remove | approve | reject | login | logout | serve',
    words: 'MCP servers: add and remove them, approve, log in; serve our tools',
    choices: ['list', 'get', 'add', 'remove', 'approve', 'reject', 'login', 'logout', 'serve'],
    flags: [
      { flags: '--scope <scope>', words: 'user (as given), project or local' },
      { flags: '--transport <kind>', words: 'stdio, http or sse' },
      { flags: '--env <NAME=value>', words: 'a variable of its environment', many: 'many' },
      { flags: '--header <Name: value>', words: 'a header of every request', many: 'many' },
      { flags: '--json', words: 'as JSON' },
    ],
  },
  {
    name: 'completion',
    usage: '<bash|zsh|fish|man>',
    words: 'print a completion script, or the man page',
    choices: ['bash', 'zsh', 'fish', 'man'],
  },
  { name: 'help', usage: '[topic]', words: 'more about a topic' },
] as const satisfies readonly Subcommand[];

export type SubcommandName = (typeof SUBCOMMANDS)[number]['name'];

/** The same table, without the exact words. */
export const subcommands = (): readonly (Subcommand & { readonly name: SubcommandName })[] => SUBCOMMANDS;
