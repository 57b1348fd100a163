import { FLAG_GROUPS, FLAGS, type Flag, partsOf } from './options.ts';
import { subcommands } from './subcommands.ts';

const EXAMPLES = [
  ['ouro', 'talk in this folder'],
  ['ouro "why does the build fail?"', 'start with a question'],
  ['ouro -c', 'go on where you stopped'],
  ['ouro -p "name three risks in this code"', 'answer once and leave'],
  ['git diff | ouro -p "review this"', 'read what is piped in'],
  ['ouro --model demo', 'look around without a key'],
] as const;

/** What `--help` prints: examples first, then the flags most people need. Fits on a screen. */
export function helpText(): string {
  return `${[
    'Usage: ouro [flags] [prompt]',
    '       ouro <command>',
    '',
    ...columns(EXAMPLES, 42),
    '',
    `Commands: ${subcommands()
      .map(({ name }) => name)
      .join(', ')}`,
    ...flagLines((flag) => flag.quiet === undefined),
    '',
    'All flags: ouro help flags',
  ].join('\n')}\n`;
}

/** What `ouro <command> --help` prints; `undefined` when there is no such command. */
export function commandText(name: string | undefined): string | undefined {
  const command = subcommands().find((one) => one.name === name);
  if (command === undefined) return undefined;
  const flags = (command.flags ?? []).map((flag) => [flag.flags, flag.words] as const);
  return `${[
    `Usage: ouro ${command.name} ${[flags.length === 0 ? '' : '[flags]', command.usage].filter((part) => part !== '').join(' ')}`.trim(),
    command.words,
    ...(flags.length === 0 ? [] : ['', ...columns(flags, 42)]),
  ].join('\n')}\n`;
}

/** Every flag there is, by group, and every command. */
export function allFlagsText(): string {
  const commands = subcommands().map(({ name, usage, words }) => [`ouro ${name} ${usage}`.trim(), words] as const);
  return `${['Commands', ...columns(commands, 42), ...flagLines(() => true)].join('\n')}\n`;
}

function flagLines(shown: (flag: Flag) => boolean): readonly string[] {
  return FLAG_GROUPS.flatMap((group) => {
    const flags = FLAGS.filter((flag) => flag.group === group && shown(flag));
    return [
      group,
      ...columns(
        flags.map((flag) => [nameOf(flag), flag.words] as const),
        42,
      ),
    ];
  });
}

/** One spelling is enough to read; the parser knows the others. */
function nameOf(flag: Flag): string {
  const { short, long, value } = partsOf(flag);
  return [short === undefined ? long[0] : `${short}, ${long[0]}`, value].filter((part) => part !== undefined).join(' ');
}

function columns(rows: readonly (readonly [string, string])[], width: number): readonly string[] {
  return rows.map(([left, right]) => `  ${left.padEnd(width - 2)}${left.length > width - 3 ? ' ' : ''}${right}`);
}
