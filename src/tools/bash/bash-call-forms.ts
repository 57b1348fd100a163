import type { JsonValue } from '../../contracts/json.ts';
import { quoteShellWord } from '../../lib/text/shell-quotes.ts';
import { acceptOnlyArgumentValues, type ForeignToolCallForms } from '../input/call-forms.ts';
import { parseJsonText } from '../input/coerce-input.ts';
import type { ForeignArgumentConverter } from '../input/normalize-arguments.ts';

const MS_PER_SECOND = 1000;

type Conversion = ReturnType<ForeignArgumentConverter>;

/** The forms in which Bash can be called. */
export const BASH_CALL_FORMS: ForeignToolCallForms = {
  example: 'Bash{command:"npm test -- auth", description:"Run the auth tests"}',
  names: [
    ...['shell', 'local_shell', 'terminal', 'sh', 'exec', 'execute', 'exec_command', 'execute_command', 'run_command'],
    ...['run_terminal_cmd', 'run_terminal_command', 'run_in_terminal', 'run_shell_command', 'shell_command'],
    ...['execute_bash', 'run_bash', 'container.exec', 'developer__shell', 'execute_shell_command'],
    ...['delete_file', 'remove_file'],
  ],
  synonyms: {
    command: ['cmd', 'script', 'command_line', 'bash_command', 'shell_command'],
    timeout: ['max_wait'],
    description: ['explanation', 'reason', 'summary', 'goal', 'purpose'],
    run_in_background: ['is_background', 'background', 'async', 'detach'],
    outside_sandbox: [],
    sandbox_write: [],
    wake_on: [],
    timeout_ms: ['timeout_milliseconds'],
    timeout_seconds: ['timeout_sec', 'timeout_secs', 'timeout_s'],
    workdir: ['cwd', 'working_directory', 'working_dir', 'directory', 'dir_path', 'dir'],
    target_file: ['path', 'file_path'],
    blocking: [],
    restart: [],
    dangerously_disable_sandbox: [],
  },
  conversions: {
    // The file of `delete_file`.
    target_file: (file, { command }) =>
      command === undefined
        ? { set: { command: `rm -- ${quoteShellWord(String(file))}` } }
        : { problem: 'Bash runs a command line; put the file into the command.' },
    command: (value) => ({ set: { command: toCommandLine(value) } }),
    workdir: (folder, { command }) => ({ set: { command: runIn(String(folder), String(command ?? '')) } }),
    // Before those with a unit in their name, which are taken as they are.
    timeout: convertTimeout,
    timeout_seconds: (value) => ({ set: { timeout: Number(value) * MS_PER_SECOND } }),
    timeout_ms: (value) => ({ set: { timeout: value } }),
    blocking: (value) => ({ set: { run_in_background: value === false || value === 'false' } }),
    restart: acceptOnlyArgumentValues(
      'Every call of Bash is a fresh shell; there is nothing to restart. Give a command.',
      false,
    ),
    dangerously_disable_sandbox: (value, { description }) => ({
      set: value === true ? { outside_sandbox: description ?? 'not given' } : {},
    }),
  },
  ignored: [
    ...['login', 'tty', 'shell', 'yield_time_ms', 'max_output_tokens', 'requires_approval', 'safe_to_auto_run'],
    ...['with_escalated_permissions', 'sandbox_permissions', 'justification', 'require_user_approval', 'prefix_rule'],
  ],
};

/** Joins a command that is given as words. The words of a shell with a script are that script. */
function toCommandLine(value: JsonValue): JsonValue {
  const parsed = typeof value === 'string' ? (parseJsonText(value) ?? value) : value;
  if (!Array.isArray(parsed)) return value;
  const words: readonly string[] = parsed.map(String);
  const [program = '', flags = '', script] = words;
  if (/^(?:\/(?:usr\/)?bin\/)?(?:ba|z|da)?sh$/.test(program) && /^-[a-z]*c$/.test(flags) && script !== undefined)
    return words.length === 3 ? script : words.map(quoteShellWord).join(' ');
  return words.length === 1 ? program : words.map(quoteShellWord).join(' ');
}

/** Runs a command in a folder without changing that of the session, as in the assistants that have this argument. */
function runIn(folder: string, command: string): string {
  if (folder === '' || folder === '.') return command;
  // A plain command is shown on one line; anything else could end the group or join another command.
  if (/^[^\n;&|#<>()]+$/.test(command)) return `(cd ${quoteShellWord(folder)} && ${command})`;
  return `(cd ${quoteShellWord(folder)} && {\n${command}\n})`;
}

/** Treats a timeout below 1000 as seconds: models often confuse the units. */
function convertTimeout(value: JsonValue): Conversion {
  const timeout = Number(value);
  if (!(timeout > 0 && timeout < MS_PER_SECOND)) return { set: { timeout: value } };
  const seconds = Math.max(1, timeout);
  return {
    set: { timeout: seconds * MS_PER_SECOND },
    note: `The timeout of ${timeout} was taken as ${seconds} seconds; it is given in milliseconds.`,
  };
}
