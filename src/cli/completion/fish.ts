import { type FlagValue, shellCommands, shellFlags } from './words.ts';

/** A completion script for fish: `ouro completion fish > ~/.config/fish/completions/ouro.fish`. */
export function fishScript(): string {
  const names = shellCommands().map(({ name }) => name);
  const commands = shellCommands().flatMap(({ name, words, choices, flags: own }) => [
    `complete -c ouro -n __fish_use_subcommand -f -a ${name} -d '${plain(words)}'`,
    ...(choices.length === 0
      ? []
      : [`complete -c ouro -n '__fish_seen_subcommand_from ${name}' -f -a '${choices.join(' ')}'`]),
    ...own.map(
      ({ long, words: help }) =>
        `complete -c ouro -n '__fish_seen_subcommand_from ${name}' -l ${long.slice(2)} -d '${plain(help)}'`,
    ),
  ]);
  const flags = shellFlags().flatMap(({ short, long, words, value }) =>
    long.map((name, at) => {
      const letter = short === undefined || at > 0 ? '' : ` -s ${short.slice(1)}`;
      const alone = ` -n 'not __fish_seen_subcommand_from ${names.join(' ')}'`;
      return `complete -c ouro${alone}${letter} -l ${name.slice(2)}${takes(value)} -d '${plain(words)}'`;
    }),
  );
  return `${[...commands, ...flags].join('\n')}\n`;
}

function takes(value: FlagValue): string {
  if (value === 'nothing') return ' -f';
  if (value === 'file') return ' -r -F';
  if (value === 'folder') return " -x -a '(__fish_complete_directories)'";
  return value === 'words' ? ' -x' : ` -x -a '${value.join(' ')}'`;
}

function plain(words: string): string {
  return words.replaceAll("'", '’');
}
