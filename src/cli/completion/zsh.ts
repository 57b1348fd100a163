import { type FlagValue, type ShellFlag, shellCommands, shellFlags } from './words.ts';

/** A completion script for zsh: a file named `_ouro` in a folder of `$fpath`. */
export function zshScript(): string {
  const commands = shellCommands();
  const cases = commands.map(({ name, choices, flags }) => {
    const options = flags.flatMap(specs).map((spec) => ` ${spec}`);
    const what = choices.length === 0 ? '' : ` '2:${name}:(${choices.join(' ')})'`;
    return `    ${name}) _arguments${options.join('')}${what} '*:word:_files' ;;`;
  });
  return `#compdef ouro
_ouro() {
  local -a commands flags
  commands=(
${commands.map(({ name, words }) => `    '${name}:${plain(words)}'`).join('\n')}
  )
  flags=(
${shellFlags()
  .flatMap(specs)
  .map((spec) => `    ${spec}`)
  .join('\n')}
  )
  if (( CURRENT == 2 )) && [[ $words[CURRENT] != -* ]]; then
    _describe 'command' commands
    return
  fi
  case $words[2] in
${cases.join('\n')}
    *) _arguments -s $flags '*:prompt:' ;;
  esac
}
if [ "$funcstack[1]" = _ouro ]; then _ouro "$@"; else compdef _ouro ouro; fi
`;
}

function specs({ names, words, value }: ShellFlag): readonly string[] {
  return names.map((name) => `'(${names.join(' ')})${name}[${plain(words)}]${action(value)}'`);
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
