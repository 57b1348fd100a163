import { type FlagValue, shellCommands, shellFlags } from './words.ts';

/** A completion script for bash: `ouro completion bash > ~/.local/share/bash-completion/completions/ouro`. */
export function bashScript(): string {
  const flags = shellFlags();
  const commands = shellCommands();
  const valueCases = flags
    .filter(({ value }) => value !== 'nothing')
    .map(({ names, value }) => `    ${names.join('|')}) ${offer(value)}return ;;`);
  const commandCases = commands.map(({ name, choices, flags: own }) => {
    const offered = [...choices, ...own.flatMap(({ names }) => names)];
    return `      ${name}) ${offer(offered)}return ;;`;
  });
  return `_ouro() {
  local cur=\${COMP_WORDS[COMP_CWORD]} prev=\${COMP_WORDS[COMP_CWORD-1]}
  case $prev in
${valueCases.join('\n')}
  esac
  if [[ $COMP_CWORD -gt 1 ]]; then
    case \${COMP_WORDS[1]} in
${commandCases.join('\n')}
    esac
  fi
  if [[ $cur == -* ]]; then
    ${offer(flags.flatMap(({ names }) => names))}
  elif [[ $COMP_CWORD -eq 1 ]]; then
    ${offer(commands.map(({ name }) => name))}
  fi
}
complete -o default -F _ouro ouro
`;
}

function offer(value: FlagValue): string {
  if (value === 'nothing' || value === 'words') return '';
  const what = value === 'file' ? '-f' : value === 'folder' ? '-d' : `-W "${value.join(' ')}"`;
  return `COMPREPLY=($(compgen ${what} -- "$cur")); `;
}
