import { type CliFlag, describeFlag, parseFlagSyntax } from '../command/define-flag.ts';
import { CLI_FLAGS } from '../command/flags.ts';
import { listSubcommands } from '../command/subcommands.ts';

/** Returns the bash completion script: `ouro completion bash > ~/.local/share/bash-completion/completions/ouro`. */
export function renderBashCompletion(): string {
  const flags = listCompletionFlags();
  const commands = listCompletionCommands();
  const valueCases = flags
    .filter(({ value }) => value !== 'none')
    .map(({ names, value }) => `    ${names.join('|')}) ${formatBashReply(value)}return ;;`);
  const commandCases = commands.map(({ name, choices, flags: commandFlags }) => {
    const candidates = [...choices, ...commandFlags.flatMap(({ names }) => names)];
    return `      ${name}) ${formatBashReply(candidates)}return ;;`;
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
    ${formatBashReply(flags.flatMap(({ names }) => names))}
  elif [[ $COMP_CWORD -eq 1 ]]; then
    ${formatBashReply(commands.map(({ name }) => name))}
  fi
}
complete -o default -F _ouro ouro
`;
}

function formatBashReply(value: ValueCompletion): string {
  // Bash itself completes files if nothing is offered: it quotes blanks. The bash of macOS has no `compopt`.
  if (value === 'folder') return 'compopt -o dirnames 2>/dev/null; ';
  return typeof value === 'string' ? '' : `COMPREPLY=($(compgen -W "${value.join(' ')}" -- "$cur")); `;
}

/** Returns the zsh completion script, to be saved as `_ouro` in a folder of `$fpath`. */
export function renderZshCompletion(): string {
  const commands = listCompletionCommands();
  const cases = commands.map(({ name, choices, flags }) => {
    const options = flags.flatMap(formatZshFlag).map((spec) => ` ${spec}`);
    const choiceSpec = choices.length === 0 ? '' : ` '2:${name}:(${choices.join(' ')})'`;
    return `    ${name}) _arguments${options.join('')}${choiceSpec} '*:word:_files' ;;`;
  });
  return `#compdef ouro
_ouro() {
  local -a commands flags
  commands=(
${commands.map(({ name, description }) => `    '${name}:${escapeForZsh(description)}'`).join('\n')}
  )
  flags=(
${listCompletionFlags()
  .flatMap(formatZshFlag)
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

function formatZshFlag({ names, description, value }: ShellFlag): readonly string[] {
  return names.map((name) => `'(${names.join(' ')})${name}[${escapeForZsh(description)}]${formatZshValue(value)}'`);
}

function formatZshValue(value: ValueCompletion): string {
  if (value === 'none') return '';
  if (value === 'file') return ':file:_files';
  if (value === 'folder') return ':folder:_files -/';
  return value === 'text' ? ':value:' : `:value:(${value.join(' ')})`;
}

/** Replaces the characters with a meaning in a zsh `_arguments` specification. */
function escapeForZsh(text: string): string {
  return text.replaceAll("'", '’').replaceAll('[', '(').replaceAll(']', ')').replaceAll(':', ' -');
}

/** Returns the fish completion script: `ouro completion fish > ~/.config/fish/completions/ouro.fish`. */
export function renderFishCompletion(): string {
  const commands = listCompletionCommands();
  const lines = commands.flatMap(({ name, description, choices, flags }) => {
    const afterCommand = `complete -c ouro -n '__fish_seen_subcommand_from ${name}'`;
    return [
      `complete -c ouro -n __fish_use_subcommand -f -a ${name} -d '${escapeForFish(description)}'`,
      ...(choices.length === 0 ? [] : [`${afterCommand} -f -a '${choices.join(' ')}'`]),
      ...flags.flatMap((flag) => formatFishFlag(afterCommand, flag)),
    ];
  });
  const withoutCommand = `complete -c ouro -n 'not __fish_seen_subcommand_from ${commands.map(({ name }) => name).join(' ')}'`;
  return `${[...lines, ...listCompletionFlags().flatMap((flag) => formatFishFlag(withoutCommand, flag))].join('\n')}\n`;
}

function formatFishFlag(prefix: string, { names, description, value }: ShellFlag): readonly string[] {
  const short = names.find((name) => !name.startsWith('--'));
  return names
    .filter((name) => name.startsWith('--'))
    .map((name, index) => {
      const shortOption = short === undefined || index > 0 ? '' : ` -s ${short.slice(1)}`;
      return `${prefix}${shortOption} -l ${name.slice(2)}${formatFishValue(value)} -d '${escapeForFish(description)}'`;
    });
}

function formatFishValue(value: ValueCompletion): string {
  if (value === 'none') return ' -f';
  if (value === 'file') return ' -r -F';
  if (value === 'folder') return " -x -a '(__fish_complete_directories)'";
  return value === 'text' ? ' -x' : ` -x -a '${value.join(' ')}'`;
}

function escapeForFish(text: string): string {
  return text.replaceAll("'", '’');
}

/** The completions for the value of a flag; `none` for a flag without a value, `text` for free text. */
type ValueCompletion = 'none' | 'file' | 'folder' | 'text' | readonly string[];

type ShellFlag = {
  /** All names, a short one first. */
  readonly names: readonly string[];
  readonly description: string;
  readonly value: ValueCompletion;
};

/** A subcommand as the shell completions offer it. */
type ShellCommand = {
  readonly name: string;
  readonly description: string;
  readonly choices: readonly string[];
  readonly flags: readonly ShellFlag[];
};

/** Returns the flags of `ouro` itself, including `--help` and `--version`. @internal Exported for tests. */
export const listCompletionFlags = (): readonly ShellFlag[] => [
  ...Object.values(CLI_FLAGS).map(toShellFlag),
  { names: ['-h', '--help'], description: 'show help', value: 'none' },
  { names: ['-v', '--version'], description: 'print the version', value: 'none' },
];

/** Returns all subcommands with their flags. @internal Exported for tests. */
export const listCompletionCommands = (): readonly ShellCommand[] =>
  Object.entries(listSubcommands()).map(
    ([
      name,
      { description, operands, choices = typeof operands === 'object' ? Object.keys(operands) : [], flags = {} },
    ]) => ({
      name,
      description,
      choices,
      flags: Object.values(flags).map(toShellFlag),
    }),
  );

function toShellFlag(flag: CliFlag): ShellFlag {
  const { short, long, value } = parseFlagSyntax(flag);
  return {
    names: short === undefined ? long : [short, ...long],
    description: describeFlag(flag),
    value: findValueCompletion(flag, value),
  };
}

function findValueCompletion({ valueKind }: CliFlag, placeholder = ''): ValueCompletion {
  if (typeof valueKind === 'object' && 'oneOf' in valueKind) return valueKind.oneOf;
  if (valueKind === 'boolean') return 'none';
  if (/dir/.test(placeholder)) return 'folder';
  return /file/.test(placeholder) ? 'file' : 'text';
}
