import { FLAG_GROUPS, FLAGS } from '../options.ts';
import { subcommands } from '../subcommands.ts';

const EXIT_CODES = [
  ['0', 'The answer is complete, or a hook ended the run.'],
  ['1', 'The run failed; the reason is on stderr and in the result.'],
  ['2', 'The command line could not be followed.'],
  ['129, 130, 143', 'Ended by SIGHUP, SIGINT, SIGTERM.'],
] as const;

/** The man page, in roff: `ouro completion man > ouro.1`. */
export function manPage(): string {
  const flags = FLAG_GROUPS.flatMap((group) => [
    `.SS ${group}`,
    ...FLAGS.filter((flag) => flag.group === group).flatMap((flag) => item(flag.flags, flag.words)),
  ]);
  const commands = subcommands().flatMap(({ name, usage, words }) => item(`ouro ${name} ${usage}`.trim(), words));
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
    ...item('ANTHROPIC_API_KEY', 'The key for the API.'),
    ...item('ANTHROPIC_BASE_URL', 'Where requests go instead.'),
    ...item('OURO_HOME', 'Where sessions and settings are kept; ~/.ouro by default.'),
  ].join('\n')}\n`;
}

function item(name: string, words: string): readonly string[] {
  return ['.TP', `.B ${roff(name)}`, roff(words)];
}

/** Dashes that can be copied, and no line that starts a request. */
function roff(text: string): string {
  return text
    .replaceAll('\\', '\\e')
    .replaceAll('-', '\\-')
    .replace(/^([.'])/, '\\&$1');
}
