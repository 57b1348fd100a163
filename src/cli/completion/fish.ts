import { type FlagValue, type ShellFlag, shellCommands, shellFlags } from './words.ts';

/** A completion script for fish: `ouro completion fish > ~/.config/fish/completions/ouro.fish`. */
export function fishScript(): string {
  const commands = shellCommands();
  const lines = commands.flatMap(({ name, words, choices, flags }) => {
    const inside = `complete -c ouro -n '__fish_seen_subcommand_from ${name}'`;
    return [
      `complete -c ouro -n __fish_use_subcommand -f -a ${name} -d '${plain(words)}'`,
      ...(choices.length === 0 ? [] : [`${inside} -f -a '${choices.join(' ')}'`]),
      ...flags.flatMap((flag) => flagLines(inside, flag)),
    ];
  });
  const outside = `complete -c ouro -n 'not __fish_seen_subcommand_from ${commands.map(({ name }) => name).join(' ')}'`;
  return `${[...lines, ...shellFlags().flatMap((flag) => flagLines(outside, flag))].join('\n')}\n`;
}

function flagLines(where: string, { names, words, value }: ShellFlag): readonly string[] {
  const short = names.find((name) => !name.startsWith('--'));
  return names
    .filter((name) => name.startsWith('--'))
    .map((name, at) => {
      const letter = short === undefined || at > 0 ? '' : ` -s ${short.slice(1)}`;
      return `${where}${letter} -l ${name.slice(2)}${takes(value)} -d '${plain(words)}'`;
    });
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
