import { type CliFlag, describeFlag, parseFlagSyntax } from '../../command/define-flag.ts';
import { CLI_FLAG_GROUPS } from '../../command/flags.ts';
import { listSubcommands } from '../../command/subcommands.ts';

const EXAMPLES = [
  ['ouro', 'start a session in this folder'],
  ['ouro "why does the build fail?"', 'start with a question'],
  ['ouro -c', 'continue the last session'],
  ['ouro -p "name three risks in this code"', 'print one answer and exit'],
  ['git diff | ouro -p "review this"', 'read from a pipe'],
  ['ouro --model demo', 'try ouro without a key'],
] as const;
const LEFT_COLUMN_WIDTH = 42;

/** Returns the text of `--help`: examples, commands and the common flags. Must fit on one screen. */
export function formatHelp(): string {
  return `${[
    'Usage: ouro [flags] [prompt]',
    '       ouro <command>',
    '',
    ...formatColumns(EXAMPLES),
    '',
    ...formatCommandNames(Object.keys(listSubcommands())),
    ...formatFlagGroups((flag) => !flag.isAdvanced),
    'All flags: ouro help flags',
  ].join('\n')}\n`;
}

const COMMANDS_PER_LINE = 10;

function formatCommandNames(names: readonly string[]): readonly string[] {
  const firstLine = names.slice(0, COMMANDS_PER_LINE);
  const rest = names.slice(COMMANDS_PER_LINE);
  return [
    `Commands: ${firstLine.join(', ')}${rest.length === 0 ? '' : ','}`,
    ...(rest.length === 0 ? [] : [`          ${rest.join(', ')}`]),
  ];
}

/** Returns the text of `ouro <command> --help`, or `undefined` when the command does not exist. */
export function formatCommandHelp(name = ''): string | undefined {
  const command = Object.hasOwn(listSubcommands(), name) ? listSubcommands()[name] : undefined;
  if (command === undefined) return undefined;
  const flags = Object.values(command.flags ?? {}).map((flag) => [flag.syntax, describeFlag(flag)] as const);
  const usageParts = [`Usage: ouro ${name}`, flags.length === 0 ? '' : '[flags]', command.usage];
  return `${[
    usageParts.filter((part) => part !== '').join(' '),
    command.description,
    ...(flags.length === 0 ? [] : ['', ...formatColumns(flags)]),
  ].join('\n')}\n`;
}

/** Returns the text of `ouro help flags`: every command and every flag. */
export function formatFlagsHelp(): string {
  const commands = Object.entries(listSubcommands()).map(
    ([name, { usage, description }]) => [`ouro ${name} ${usage}`.trim(), description] as const,
  );
  return `${['Commands', ...formatColumns(commands), ...formatFlagGroups(() => true)].join('\n')}\n`;
}

function formatFlagGroups(isShown: (flag: CliFlag) => boolean): readonly string[] {
  return Object.entries(CLI_FLAG_GROUPS).flatMap(([group, table]) => {
    const flags: readonly CliFlag[] = Object.values(table);
    return [
      group,
      ...formatColumns(flags.filter(isShown).map((flag) => [formatFlagNames(flag), describeFlag(flag)] as const)),
    ];
  });
}

/** Only the first long name is shown; the parser accepts all of them. */
function formatFlagNames(flag: CliFlag): string {
  const { short, long, value } = parseFlagSyntax(flag);
  return [short === undefined ? long[0] : `${short}, ${long[0]}`, value].filter((part) => part !== undefined).join(' ');
}

function formatColumns(rows: readonly (readonly [string, string])[]): readonly string[] {
  return rows.map(
    ([left, right]) =>
      `  ${left.padEnd(LEFT_COLUMN_WIDTH - 2)}${left.length > LEFT_COLUMN_WIDTH - 3 ? ' ' : ''}${right}`,
  );
}
