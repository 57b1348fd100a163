import { type Flag, flagWords } from '../args/flag.ts';
import { FLAG_GROUPS } from '../args/flags.ts';
import { subcommands } from '../args/subcommands.ts';

const EXIT_CODES = [
  ['0', 'The answer is complete, or a hook ended the run.'],
  ['1', 'The run failed; the reason is on stderr and in the result.'],
  ['2', 'The command line could not be followed.'],
  ['129, 130, 143', 'Ended by SIGHUP, SIGINT, SIGTERM.'],
] as const;

const ENVIRONMENT = [
  ['ANTHROPIC_API_KEY, ANTHROPIC_AUTH_TOKEN', 'The key for the API, or a token.'],
  ['ANTHROPIC_BASE_URL', 'Where requests go instead.'],
  ['ANTHROPIC_MODEL, ANTHROPIC_SMALL_FAST_MODEL', 'The model, and the one for small side tasks.'],
  ['OURO_HOME', 'Where sessions and settings are kept; ~/.ouro by default.'],
  [
    'OURO_STREAM_IDLE_TIMEOUT_MS, OURO_MAX_RETRIES',
    'How long a silent reply is waited for, and how often it is tried.',
  ],
  [
    'OURO_BASH_TIMEOUT_MS, OURO_MCP_CALL_TIMEOUT_MS, OURO_HOOK_TIMEOUT_MS',
    'How long commands, servers and hooks may take.',
  ],
  ['NO_COLOR, FORCE_COLOR', 'Whether there are colours.'],
  ['HTTPS_PROXY, NODE_EXTRA_CA_CERTS', 'The way out, and who is trusted on it.'],
  [
    'CLAUDE_CODE_CLIENT_CERT, CLAUDE_CODE_CLIENT_KEY, CLAUDE_CODE_CLIENT_KEY_PASSPHRASE',
    'The certificate that is shown to a server that wants one.',
  ],
] as const;

/** The man page, in roff: `ouro completion man > ouro.1`. */
export function manPage(): string {
  const flags = Object.entries(FLAG_GROUPS).flatMap(([group, table]) => [
    `.SS ${group}`,
    ...Object.values(table).flatMap((flag: Flag) => item(flag.spelling, flagWords(flag))),
  ]);
  const commands = Object.entries(subcommands()).flatMap(([name, { usage, words, flags: own = {} }]) => [
    ...item(`ouro ${name} ${usage}`.trim(), words),
    ...Object.values(own).flatMap((flag) => ['.br', roff(`${flag.spelling}: ${flagWords(flag)}`)]),
  ]);
  return `${[
    '.TH OURO 1',
    '.SH NAME',
    'ouro \\- an interactive coding assistant for the terminal',
    '.SH SYNOPSIS',
    '.B ouro',
    '[flags] [prompt]',
    '.br',
    '.B ouro',
    '<command>',
    '.SH COMMANDS',
    ...commands,
    '.SH OPTIONS',
    ...flags,
    '.SH EXIT STATUS',
    ...EXIT_CODES.flatMap(([code, words]) => item(code, words)),
    '.SH ENVIRONMENT',
    ...ENVIRONMENT.flatMap(([name, words]) => item(name, words)),
    '.SH FILES',
    ...item('~/.ouro/settings.json', 'Settings of the user.'),
    ...item('.claude/settings.json', 'Settings of a project; settings.local.json beside it is for this machine alone.'),
    ...item('~/.ouro/projects', 'Every session, as lines of JSON.'),
    '.SH SEE ALSO',
    'ouro help, and the pages it names.',
  ].join('\n')}\n`;
}

function item(name: string, words: string): readonly string[] {
  return ['.TP', `.B ${roff(name)}`, roff(words)];
}

/** Dashes that can be copied, signs beyond ASCII by their number, and no line that starts a request. */
function roff(text: string): string {
  return text
    .replaceAll('\\', '\\e')
    .replaceAll('-', '\\-')
    .replace(/[^ -~]/gu, (sign) => `\\[u${(sign.codePointAt(0) ?? 0).toString(16).toUpperCase().padStart(4, '0')}]`)
    .replace(/^([.'])/, '\\&$1');
}
