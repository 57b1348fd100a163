import { shellCommands, shellFlags } from './words.ts';

/** A completion script for bash: `ouro completion bash > ~/.local/share/bash-completion/completions/ouro`. */
export function bashScript(): string {
  const flags = shellFlags();
  const commands = shellCommands();
  const names = flags.flatMap(({ short, long }) => (short === undefined ? long : [short, ...long]));
  const valueCases = flags.flatMap(({ short, long, value }) => {
    const pattern = [...(short === undefined ? [] : [short]), ...long].join('|');
    if (value === 'nothing') return [];
    if (value === 'file') return [`    ${pattern}) COMPREPLY=($(compgen -f -- "$cur")); return ;;`];
    if (value === 'folder') return [`    ${pattern}) COMPREPLY=($(compgen -d -- "$cur")); return ;;`];
    if (value === 'words') return [`    ${pattern}) return ;;`];
    return [`    ${pattern}) COMPREPLY=($(compgen -W "${value.join(' ')}" -- "$cur")); return ;;`];
  });
  const commandCases = commands.map(({ name, choices, flags: own }) => {
    const offered = [...choices, ...own.map(({ long }) => long)].join(' ');
    return `    ${name}) COMPREPLY=($(compgen -W "${offered}" -- "$cur")); return ;;`;
  });
  return `_ouro() {
  local cur=\${COMP_WORDS[COMP_CWORD]} prev=\${COMP_WORDS[COMP_CWORD-1]}
  case $prev in
${valueCases.join('\n')}
  esac
  if [[ $COMP_CWORD -gt 1 ]]; then
    case \${COMP_WORDS[1]} in
${commandCases.map((line) => `  ${line}`).join('\n')}
    esac
  fi
  if [[ $cur == -* ]]; then
    COMPREPLY=($(compgen -W "${names.join(' ')}" -- "$cur"))
  elif [[ $COMP_CWORD -eq 1 ]]; then
    COMPREPLY=($(compgen -W "${commands.map(({ name }) => name).join(' ')}" -- "$cur"))
  fi
}
complete -o default -F _ouro ouro
`;
}
