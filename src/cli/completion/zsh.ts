import { type FlagValue, shellCommands, shellFlags } from './words.ts';

/** A completion script for zsh: a file named `_ouro` in a folder of `$fpath`. */
export function zshScript(): string {
  const flags = shellFlags().flatMap(({ short, long, words, value }) => {
    const names = [...(short === undefined ? [] : [short]), ...long];
    return names.map((name) => `    '(${names.join(' ')})${name}[${plain(words)}]${action(value)}'`);
  });
  const commands = shellCommands();
  const choices = commands.map(({ name, choices: those, flags: own }) => {
    const options = own.map(({ long, words }) => ` '${long}[${plain(words)}]'`).join('');
    const what = those.length === 0 ? '' : ` '2:${name}:(${those.join(' ')})'`;
    return `    ${name}) _arguments${options}${what} '*:word:_files' ;;`;
  });
  return `#compdef ouro
_ouro() {
  local -a commands flags
  commands=(
${commands.map(({ name, words }) => `    '${name}:${plain(words)}'`).join('\n')}
  )
  flags=(
${flags.join('\n')}
  )
  if (( CURRENT == 2 )) && [[ $words[CURRENT] != -* ]]; then
    _describe 'command' commands
    return
  fi
  case $words[2] in
${choices.join('\n')}
    *) _arguments -s $flags '*:prompt:' ;;
  esac
}
if [ "$funcstack[1]" = _ouro ]; then _ouro "$@"; else compdef _ouro ouro; fi
`;
}

function action(value: FlagValue): string {
  if (value === 'nothing') return '';
  if (value === 'file') return ':file:_files';
  if (value === 'folder') return ':folder:_files -/';
  return value === 'words' ? ':value:' : `:value:(${value.join(' ')})`;
}

/** Without the characters that mean something inside a zsh specification. */
function plain(words: string): string {
  return words.replaceAll("'", '’').replaceAll('[', '(').replaceAll(']', ')').replaceAll(':', ' -');
}
