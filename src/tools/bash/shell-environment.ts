import { MARKER } from '../../lib/processes/process-tree.ts';

/** What changes how bash reads a command, or what tells it to read somebody's file first. */
const SHELL_TRAPS = [
  'BASH_ENV',
  'ENV',
  'CDPATH',
  'IFS',
  'PS4',
  'PROMPT_COMMAND',
  'SHELLOPTS',
  'BASHOPTS',
  'GLOBIGNORE',
  'POSIXLY_CORRECT',
  'RIPGREP_CONFIG_PATH',
  'GREP_OPTIONS',
];

/** Ours alone; a command has no use for them. */
const OUR_SECRETS = ['ANTHROPIC_API_KEY', 'ANTHROPIC_AUTH_TOKEN', 'OURO_API_KEY'];

/** The environment of a command: the user's, without traps and without our secrets, marked as belonging to a call. */
export function shellEnvironment(
  variables: Readonly<Record<string, string>>,
  /** On top of them; `undefined` takes a variable away. */
  extra: Readonly<Record<string, string | undefined>>,
  marker: string,
): Record<string, string> {
  const kept: Record<string, string> = {};
  for (const [name, value] of Object.entries(variables)) {
    const dropped = SHELL_TRAPS.includes(name) || OUR_SECRETS.includes(name) || name.startsWith('BASH_FUNC_');
    if (!dropped && !Object.hasOwn(extra, name)) kept[name] = value;
  }
  for (const [name, value] of Object.entries(extra)) if (value !== undefined) kept[name] = value;
  return {
    ...kept,
    [MARKER]: marker,
    OURO: '1',
    GIT_TERMINAL_PROMPT: '0',
    GIT_EDITOR: 'true',
    PAGER: 'cat',
    GIT_PAGER: 'cat',
  };
}
