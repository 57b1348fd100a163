import type { PluginOperations } from '../../app/plugin-operations.ts';
import type { ProcessIo } from '../../command/process-io.ts';
import { UsageError } from '../../command/usage-error.ts';
import type { PluginOption } from '../../contracts/extension.ts';
import { readHiddenLine, readShownLine } from '../../ui/input/read-hidden-line.ts';

/** The operations on plugins, and the terminal in which options are asked for. */
export type PluginOptionAccess = { readonly plugins: PluginOperations; readonly io: ProcessIo };

/** The usage of `ouro plugin configure`. */
export const PLUGIN_CONFIGURE_USAGE = 'configure <name> [KEY=value…], or KEY alone for a sensitive option';

/** Shows the options of a plugin, or sets those that are named; `KEY=` removes a value. */
export async function configurePlugin(
  id: string,
  words: readonly string[],
  access: PluginOptionAccess,
): Promise<readonly string[]> {
  const { options, hookVariables } = await access.plugins.readInstalled(id);
  if (options.length === 0) return [`Plugin ${id} has no options.`];
  if (words.length === 0) return options.map((option) => describeOption(option, hookVariables[getVariable(option)]));
  const lines: string[] = [];
  for (const word of words) {
    const [key = '', ...rest] = word.split('=');
    const option = options.find((one) => one.key === key);
    if (option === undefined)
      throw new UsageError(`${id} has no option ${key}. Options: ${options.map((one) => one.key).join(', ')}.`);
    const value = rest.length > 0 ? rest.join('=') : await readValue(option, access.io);
    if (value === undefined) throw new Error('Cancelled: nothing was changed.');
    if (option.isSensitive && rest.length > 0 && value !== '')
      throw new UsageError(
        `${key} is sensitive, and other users could read an argument. Run: ouro plugin configure ${id} ${key}`,
      );
    const where = await access.plugins.setOption(id, option, value === '' ? undefined : value);
    lines.push(value === '' ? `${key} is not set any more.` : `${key} is stored in ${where}.`);
  }
  return [...lines, 'The next session uses it.'];
}

/** Asks for the options that have no value yet, in a terminal. An empty answer leaves an option as it is. */
export async function askForPluginOptions(id: string, { plugins, io }: PluginOptionAccess): Promise<readonly string[]> {
  const { options, hookVariables } = await plugins.readInstalled(id);
  const open = options.filter((option) => hookVariables[getVariable(option)] === undefined);
  if (io.stdin.keys === undefined || open.length === 0) return [];
  const lines: string[] = [];
  for (const option of open) {
    const value = await readValue(option, io);
    if (value === undefined) throw new Error(`Cancelled: ${id} is not enabled.`);
    if (value !== '') lines.push(`${option.key} is stored in ${await plugins.setOption(id, option, value)}.`);
  }
  return lines;
}

const getVariable = ({ key }: PluginOption) => `CLAUDE_PLUGIN_OPTION_${key.toUpperCase()}`;

function describeOption(
  { key, type, title, description, isSensitive, isRequired }: PluginOption,
  value?: string,
): string {
  const state = value === undefined ? (isRequired ? 'not set, and required' : 'not set') : isSensitive ? 'set' : value;
  return `${key} = ${state}   ${[title, description, isSensitive ? 'sensitive' : type].filter((text) => text !== '').join(' · ')}`;
}

/** Reads a value from the terminal, without showing it if it is sensitive, or from a pipe. */
async function readValue(
  { key, title, isSensitive, isRequired }: PluginOption,
  io: ProcessIo,
): Promise<string | undefined> {
  const { stdin, stderr } = io;
  if (stdin.keys !== undefined) {
    const note = isSensitive ? ' (not shown)' : isRequired ? '' : ' (optional)';
    const read = isSensitive ? readHiddenLine : readShownLine;
    return (await read(stdin.keys(), stderr.write, `${title}${note}: `))?.trim();
  }
  if (stdin.kind === 'none') throw new UsageError(`Give a value: pipe it in, or ${key}=value if it is not sensitive.`);
  let text = '';
  for await (const chunk of stdin.chunks()) text += Buffer.from(chunk).toString('utf8');
  return text.trim();
}
