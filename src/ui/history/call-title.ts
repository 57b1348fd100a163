import { isJsonObject, type JsonValue } from '../../contracts/json.ts';
import { sanitize } from '../../lib/text/sanitize.ts';
import { truncateEnd } from '../../lib/text/truncate.ts';
import { shortTitle } from '../text/drawing.ts';
import { plain, type Span, toned } from '../text/line.ts';
import type { ToolEntry } from '../view/tool-entry.ts';

/** What the line of a call is made from. */
export type CalledAs = Pick<ToolEntry, 'callId' | 'tool' | 'title' | 'input' | 'by'>;

/** What a call is called: its tool, and what it is about; a command as it would be typed. */
export function toolTitle(entry: CalledAs, cwd: string): readonly Span[] {
  const { tool, title, by } = entry;
  const [line] = commandLines(entry);
  if (line !== undefined) return [by === 'person' ? toned('user', `! ${line}`) : bold(`$ ${line}`)];
  const [, server, name] = /^mcp__(.+?)__(.+)$/.exec(tool) ?? [];
  if (server !== undefined && name !== undefined)
    return [bold(sanitize(`${server}: ${name}`, 'line')), plain(argumentWords(entry.input))];
  // A title begins with the plain word for what is done.
  const words = sanitize(shortTitle(title === '' ? tool : title, cwd), 'prompt').split('\n', 1)[0] ?? '';
  const [called = ''] = words.split(' ', 1);
  return [bold(called), plain(words.slice(called.length))];
}

const ARGUMENT_COLUMNS = 60;

/** What a server's tool is called with, as far as it fits a line. */
function argumentWords(input: ToolEntry['input']): string {
  const given = isJsonObject(input) ? Object.entries(input) : [];
  const words = given.map(([name, value]) => `${name}: ${typeof value === 'string' ? value : JSON.stringify(value)}`);
  return given.length === 0 ? '' : `(${truncateEnd(sanitize(words.join(', '), 'line'), ARGUMENT_COLUMNS)})`;
}

/** The command that a shell was given, line by line; nothing of other calls. */
export function commandLines({ tool, title, input, by }: CalledAs): readonly string[] {
  if (tool !== 'Bash' && by !== 'person') return [];
  const given = isJsonObject(input) && typeof input.command === 'string' ? input.command.trim() : '';
  return sanitize(given === '' ? title : given, 'prompt').split('\n');
}

/** What a sub-agent is sent for, without the name of the tool that sends it. */
export function agentTitle({ tool, title }: ToolEntry, cwd: string): string {
  const words = sanitize(shortTitle(title, cwd), 'prompt').split('\n', 1)[0] ?? '';
  return words.startsWith(`${tool} `) ? words.slice(tool.length + 1) : words;
}

/** What a call is about, as far as its input alone tells: the first line of its first words. */
export function callTitle(input: JsonValue): string {
  const values = typeof input === 'object' && input !== null && !Array.isArray(input) ? Object.values(input) : [];
  const words = values.find((value) => typeof value === 'string');
  return typeof words === 'string' ? (words.split('\n', 1)[0] ?? '') : '';
}

function bold(text: string): Span {
  return { text, style: { bold: true } };
}
