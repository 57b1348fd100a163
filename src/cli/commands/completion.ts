import { type CliFlag, describeFlag, type FlagTable } from '../../command/define-flag.ts';
import { CLI_FLAG_GROUPS } from '../../command/flags.ts';
import { listSubcommands, type SubcommandInput } from '../../command/subcommands.ts';
import { UsageError } from '../../command/usage-error.ts';
import { formatMarkdownTable } from '../../lib/text/markdown.ts';
import { renderBashCompletion, renderFishCompletion, renderZshCompletion } from '../completion-scripts.ts';

const RENDERERS: Readonly<Record<string, () => string>> = {
  bash: renderBashCompletion,
  zsh: renderZshCompletion,
  fish: renderFishCompletion,
  man: renderManPage,
  markdown: renderFlagsPage,
};

/** Runs `ouro completion <shell>`: prints a completion script or a reference page generated from the flag tables. */
export async function runCompletionCommand({ args: [shell], io }: SubcommandInput): Promise<number> {
  const render = RENDERERS[shell ?? ''];
  if (render === undefined) throw new UsageError('Usage: ouro completion bash, zsh, fish, man or markdown.');
  io.stdout.write(render());
  return 0;
}

const EXIT_CODES = [
  ['0', 'The answer is complete, or a hook ended the run.'],
  ['1', 'The run failed; the reason is on stderr and in the result.'],
  ['2', 'The command line is invalid.'],
  ['129, 130, 143', 'The run was ended by SIGHUP, SIGINT or SIGTERM.'],
] as const;

const ENVIRONMENT = [
  ['ANTHROPIC_API_KEY, ANTHROPIC_AUTH_TOKEN', 'The key for the API, or a token.'],
  ['ANTHROPIC_BASE_URL', 'Base URL of the API.'],
  ['ANTHROPIC_MODEL, ANTHROPIC_SMALL_FAST_MODEL', 'The model, and the one for small side tasks.'],
  ['OURO_HOME', 'Folder of sessions and settings; ~/.ouro by default.'],
  [
    'OURO_STREAM_IDLE_TIMEOUT_MS, OURO_MAX_RETRIES',
    'Time to wait for the next bytes of a reply, and the number of retries.',
  ],
  [
    'OURO_BASH_TIMEOUT_MS, OURO_MCP_CALL_TIMEOUT_MS, OURO_HOOK_TIMEOUT_MS',
    'Time limits of commands, MCP calls and hooks.',
  ],
  ['NO_COLOR, FORCE_COLOR', 'Turn colours off or force them.'],
  ['HTTPS_PROXY, NODE_EXTRA_CA_CERTS', 'The proxy, and additional certificate authorities.'],
  [
    'CLAUDE_CODE_CLIENT_CERT, CLAUDE_CODE_CLIENT_KEY, CLAUDE_CODE_CLIENT_KEY_PASSPHRASE',
    'The client certificate for servers that require one.',
  ],
] as const;

/** Returns the man page in roff: `ouro completion man > ouro.1`. */
export function renderManPage(): string {
  const flags = Object.entries(CLI_FLAG_GROUPS).flatMap(([group, table]) => [
    `.SS ${group}`,
    ...Object.values(table).flatMap((flag: CliFlag) => formatRoffItem(flag.syntax, describeFlag(flag))),
  ]);
  const commands = Object.entries(listSubcommands()).flatMap(
    ([name, { usage, description, flags: commandFlags = {} }]) => [
      ...formatRoffItem(`ouro ${name} ${usage}`.trim(), description),
      ...Object.values(commandFlags).flatMap((flag) => ['.br', escapeRoff(`${flag.syntax}: ${describeFlag(flag)}`)]),
    ],
  );
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
    ...EXIT_CODES.flatMap(([code, text]) => formatRoffItem(code, text)),
    '.SH ENVIRONMENT',
    ...ENVIRONMENT.flatMap(([name, text]) => formatRoffItem(name, text)),
    '.SH FILES',
    ...formatRoffItem('~/.ouro/settings.json', 'User settings.'),
    ...formatRoffItem(
      '.claude/settings.json',
      'Project settings; settings.local.json beside it holds settings for this machine.',
    ),
    ...formatRoffItem('~/.ouro/projects', 'Sessions, as JSON lines.'),
    '.SH SEE ALSO',
    'ouro help lists the topics of the documentation.',
  ].join('\n')}\n`;
}

function formatRoffItem(name: string, text: string): readonly string[] {
  return ['.TP', `.B ${escapeRoff(name)}`, escapeRoff(text)];
}

/** Keeps dashes copyable, writes non-ASCII characters as code points and escapes lines that look like a request. */
function escapeRoff(text: string): string {
  return text
    .replaceAll('\\', '\\e')
    .replaceAll('-', '\\-')
    .replace(/[^ -~]/gu, (char) => `\\[u${(char.codePointAt(0) ?? 0).toString(16).toUpperCase().padStart(4, '0')}]`)
    .replace(/^([.'])/, '\\&$1');
}

/** Returns the page of all flags and commands that `ouro completion markdown` prints. */
export function renderFlagsPage(): string {
  const groups = Object.entries(CLI_FLAG_GROUPS).flatMap(([group, table]) => [
    `### ${group}`,
    '',
    ...formatFlagTable(table),
    '',
  ]);
  const commands = Object.entries(listSubcommands()).flatMap(([name, { usage, description, flags = {} }]) => [
    `### ouro ${name}`,
    '',
    ...(usage === '' ? [] : [`\`ouro ${name} ${usage}\``, '']),
    `${description.slice(0, 1).toUpperCase()}${description.slice(1)}.`,
    '',
    ...(Object.keys(flags).length === 0 ? [] : [...formatFlagTable(flags), '']),
  ]);
  return `${[
    '# Flags and commands',
    '',
    'Generated by `ouro completion markdown` from the tables that the command line is parsed with.',
    '',
    '## Flags',
    '',
    ...groups,
    '## Commands',
    '',
    ...commands,
  ]
    .join('\n')
    .trimEnd()}\n`;
}

function formatFlagTable(table: FlagTable): readonly string[] {
  const conflicts = Object.values(table).flatMap((flag) => flag.conflicts.map(({ message }) => `- ${message}`));
  const rows = Object.values(table).map((flag) => [`\`${flag.syntax}\``, describeFlag(flag)]);
  return [
    ...formatMarkdownTable([['flag', 'meaning'], ...rows]),
    ...(conflicts.length === 0 ? [] : ['', ...conflicts]),
  ];
}
