const SEE_HELP = 'See ouro --help for all commands.';

/** Commands of similar tools, with their equivalent in ouro. */
const FOREIGN_COMMANDS: Readonly<Record<string, string>> = {
  upgrade: 'Install a newer version with ouro update.',
  install: 'ouro is installed already. Install another version with ouro update.',
  auth: 'Store a key with ouro login, or set ANTHROPIC_API_KEY. See ouro help models for other providers.',
  'setup-token': 'Store a key with ouro login, or set ANTHROPIC_API_KEY. See ouro help models for other providers.',
  config: 'Settings are files: ouro settings explain shows each value and its source.',
  init: 'Start ouro and type /init: it writes a CLAUDE.md for the project.',
  resume: 'Resume a session with ouro -r, or the newest with ouro -c.',
  continue: 'Continue the newest session with ouro -c.',
  exec: 'Print one answer for scripts: ouro -p "your prompt".',
  run: 'Print one answer for scripts: ouro -p "your prompt".',
  chat: 'Run ouro without arguments to start a session in this folder.',
  'migrate-installer': 'ouro update finds out how ouro was installed, and updates it there.',
  serve: 'Programs drive ouro over stdin and stdout: ouro help sdk-hosts, ouro help editors.',
  agents: 'Sub-agents are files: ouro help sub-agents.',
  plugins: 'Manage plugins with ouro plugin list.',
  export: 'Export a session with ouro sessions export.',
  stats: 'Type /cost in a session to see what it cost.',
  usage: 'Type /cost in a session to see what it cost.',
  status: 'Check the installation with ouro doctor.',
  version: 'Print the version with ouro --version.',
  hooks: 'Hooks are settings: ouro help hooks.',
};

/** Second words that make a two-word command; `ouro run tests` stays a prompt. */
const SECOND_WORDS = ['login', 'logout', 'status', 'install', 'remove', 'list', 'add', 'get', 'set', 'update', 'token'];

/** Returns an error for a command of a similar tool, with our equivalent; `undefined` for a prompt. */
export function findForeignCommand(args: readonly string[]): string | undefined {
  const [first = '', second, ...rest] = args.filter((arg) => !arg.startsWith('-'));
  if (args[0] !== first || !Object.hasOwn(FOREIGN_COMMANDS, first) || rest.length > 1) return undefined;
  if (second !== undefined && !SECOND_WORDS.includes(second)) return undefined;
  const command = second === undefined ? first : `${first} ${second}`;
  return `ouro has no command "${command}". ${FOREIGN_COMMANDS[first] ?? SEE_HELP} As a prompt: ouro -- ${first}`;
}

/**
 * Flags of SDK hosts that restrict a run or ask for a guarantee ouro does not give. Ignoring one would start a
 * different run than the host asked for, so they are errors.
 */
const UNSUPPORTED_FLAGS: Readonly<Record<string, string>> = {
  '--project-config-root':
    'ouro reads project settings from its working directory. Start it there, or omit projectConfigRoot.',
  '--session-mirror':
    'ouro stores sessions in its own folder and cannot mirror them. Omit sessionStore; "ouro sessions export" copies a session.',
  '--resume-drops-turn':
    'Resume rejected by --resume-drops-turn: ouro does not check which turn a resume drops. Resume without it.',
  '--sdk-url': 'ouro talks to its host over stdin and stdout only.',
};

/** Returns the error for the first of these unknown flags that must not be ignored. */
export function findUnsupportedFlag(unknownFlags: readonly string[]): string | undefined {
  for (const argument of unknownFlags) {
    const name = argument.split('=')[0] ?? '';
    if (Object.hasOwn(UNSUPPORTED_FLAGS, name)) return `Option ${name}: ${UNSUPPORTED_FLAGS[name]}`;
  }
  return undefined;
}
