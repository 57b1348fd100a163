import { type FlagTable, wordsOf } from '../args/flag.ts';
import { FLAG_GROUPS } from '../args/flags.ts';
import { subcommands } from '../args/subcommands.ts';

/** The page of all flags and commands: `ouro completion markdown > docs/flags.md`. */
export function flagsPage(): string {
  const groups = Object.entries(FLAG_GROUPS).flatMap(([group, table]) => [`### ${group}`, '', ...tableOf(table), '']);
  const commands = Object.entries(subcommands()).flatMap(([name, { usage, words, flags = {} }]) => [
    `### ouro ${name}`,
    '',
    ...(usage === '' ? [] : [`\`ouro ${name} ${usage}\``, '']),
    `${words.slice(0, 1).toUpperCase()}${words.slice(1)}.`,
    '',
    ...(Object.keys(flags).length === 0 ? [] : [...tableOf(flags), '']),
  ]);
  return `${[
    '# Flags and commands',
    '',
    'Made by `ouro completion markdown` from the table that the command line is read by.',
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

function tableOf(table: FlagTable): readonly string[] {
  const clashes = Object.values(table).flatMap((flag) => flag.clashes.map(({ words }) => `- ${words}`));
  const rows = [
    ['flag', 'meaning'],
    ...Object.values(table).map((flag) => [`\`${cell(flag.spelling)}\``, cell(wordsOf(flag))]),
  ];
  const widths = [0, 1].map((column) => Math.max(...rows.map((row) => row[column]?.length ?? 0)));
  const line = (cells: readonly string[], fill: string) =>
    `| ${widths.map((width, at) => (cells[at] ?? '').padEnd(width, fill)).join(' | ')} |`;
  const [head = [], ...flags] = rows;
  return [
    line(head, ' '),
    line([], '-'),
    ...flags.map((row) => line(row, ' ')),
    ...(clashes.length === 0 ? [] : ['', ...clashes]),
  ];
}

function cell(text: string): string {
  return text.replaceAll('|', '\\|');
}
