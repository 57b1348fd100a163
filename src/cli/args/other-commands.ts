const HERE = 'ouro --help lists what there is.';

/** Words that are commands in programs people come from, and what does the same here. */
const OTHERS: Readonly<Record<string, string>> = {
  update: 'ouro is updated the way it was installed: npm install -g ouro, or git pull.',
  upgrade: 'ouro is updated the way it was installed: npm install -g ouro, or git pull.',
  install: 'ouro is installed with npm install -g ouro.',
  uninstall: 'ouro is removed with npm uninstall -g ouro.',
  auth: 'Store a key with ouro login, or set ANTHROPIC_API_KEY. docs/models.md has other ways.',
  'setup-token': 'Store a key with ouro login, or set ANTHROPIC_API_KEY. docs/models.md has other ways.',
  config: 'Settings are files: ouro settings explain shows each value and where it comes from.',
  init: 'Start ouro and type /init: it writes a CLAUDE.md for the project.',
  resume: 'Go on with a session: ouro -r, or ouro -c for the newest.',
  continue: 'Go on with the newest session: ouro -c.',
  exec: 'One answer for scripts: ouro -p "your words".',
  run: 'One answer for scripts: ouro -p "your words".',
  chat: 'ouro alone talks in this folder.',
  'migrate-installer': 'ouro is installed with npm install -g ouro.',
  serve: 'Programs drive ouro over stdin and stdout: ouro help sdk-hosts, ouro help editors.',
  agents: 'Sub-agents are files: ouro help sub-agents.',
  plugins: 'Plugins: ouro plugin list.',
  export: 'Sessions are exported with ouro sessions export.',
  stats: 'What a session cost: /cost on the screen.',
  usage: 'What a session cost: /cost on the screen.',
  status: 'What ouro depends on: ouro doctor.',
  version: 'ouro --version says it.',
  hooks: 'Hooks are settings: ouro help hooks.',
};

/** Second words that make a command of two; `ouro run tests` is a prompt. */
const SECOND = ['login', 'logout', 'status', 'install', 'remove', 'list', 'add', 'get', 'set', 'update', 'token'];

/** Why words alone on the command line are no prompt: they are a command elsewhere. Quoted words with a blank are one. */
export function otherCommand(args: readonly string[]): string | undefined {
  const [first = '', second, ...more] = args.filter((word) => !word.startsWith('-'));
  if (args[0] !== first || !Object.hasOwn(OTHERS, first) || more.length > 1) return undefined;
  if (second !== undefined && !SECOND.includes(second)) return undefined;
  const said = second === undefined ? first : `${first} ${second}`;
  return `ouro has no command "${said}". ${OTHERS[first] ?? HERE} As a prompt: ouro -- ${first}`;
}
