import { markdownTable } from '../../lib/text/markdown-table.ts';
import { type FlagTable, flagWords } from '../args/flag.ts';
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
  const rows = Object.values(table).map((flag) => [`\`${flag.spelling}\``, flagWords(flag)]);
  return [...markdownTable([['flag', 'meaning'], ...rows]), ...(clashes.length === 0 ? [] : ['', ...clashes])];
}
