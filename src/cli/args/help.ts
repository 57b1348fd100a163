import { type Flag, flagWords, partsOf } from './flag.ts';
import { FLAG_GROUPS } from './flags.ts';
import { subcommands } from './subcommands.ts';

const EXAMPLES = [
  ['ouro', 'talk in this folder'],
  ['ouro "why does the build fail?"', 'start with a question'],
  ['ouro -c', 'go on where you stopped'],
  ['ouro -p "name three risks in this code"', 'answer once and leave'],
  ['git diff | ouro -p "review this"', 'read what is piped in'],
  ['ouro --model demo', 'look around without a key'],
] as const;
const COLUMN = 42;

/** What `--help` prints: examples first, then the flags most people need. Fits on a screen. */
export function helpText(): string {
  return `${[
    'Usage: ouro [flags] [prompt]',
    '       ouro <command>',
    '',
    ...columns(EXAMPLES),
    '',
    ...commandLines(Object.keys(subcommands())),
    ...flagLines((flag) => !flag.isRare),
    'All flags: ouro help flags',
  ].join('\n')}\n`;
}

const COMMANDS_A_LINE = 10;

function commandLines(names: readonly string[]): readonly string[] {
  const some = names.slice(0, COMMANDS_A_LINE);
  const rest = names.slice(COMMANDS_A_LINE);
  return [
    `Commands: ${some.join(', ')}${rest.length === 0 ? '' : ','}`,
    ...(rest.length === 0 ? [] : [`          ${rest.join(', ')}`]),
  ];
}

/** What `ouro <command> --help` prints; `undefined` when there is no such command. */
export function commandText(name = ''): string | undefined {
  const command = Object.hasOwn(subcommands(), name) ? subcommands()[name] : undefined;
  if (command === undefined) return undefined;
  const flags = Object.values(command.flags ?? {}).map((one) => [one.spelling, flagWords(one)] as const);
  const parts = [`Usage: ouro ${name}`, flags.length === 0 ? '' : '[flags]', command.usage];
  return `${[
    parts.filter((part) => part !== '').join(' '),
    command.words,
    ...(flags.length === 0 ? [] : ['', ...columns(flags)]),
  ].join('\n')}\n`;
}

/** Every flag there is, by group, and every command. */
export function allFlagsText(): string {
  const commands = Object.entries(subcommands()).map(
    ([name, { usage, words }]) => [`ouro ${name} ${usage}`.trim(), words] as const,
  );
  return `${['Commands', ...columns(commands), ...flagLines(() => true)].join('\n')}\n`;
}

function flagLines(isShown: (flag: Flag) => boolean): readonly string[] {
  return Object.entries(FLAG_GROUPS).flatMap(([group, table]) => {
    const flags: readonly Flag[] = Object.values(table);
    return [group, ...columns(flags.filter(isShown).map((flag) => [nameOf(flag), flagWords(flag)] as const))];
  });
}

/** One spelling is enough to read; the parser knows the others. */
function nameOf(flag: Flag): string {
  const { short, long, value } = partsOf(flag);
  return [short === undefined ? long[0] : `${short}, ${long[0]}`, value].filter((part) => part !== undefined).join(' ');
}

function columns(rows: readonly (readonly [string, string])[]): readonly string[] {
  return rows.map(([left, right]) => `  ${left.padEnd(COLUMN - 2)}${left.length > COLUMN - 3 ? ' ' : ''}${right}`);
}
