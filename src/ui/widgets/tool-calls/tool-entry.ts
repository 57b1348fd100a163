import type { CallDenial } from '../../../contracts/denial.ts';
import type { Display } from '../../../contracts/display.ts';
import { isJsonObject, type JsonValue } from '../../../contracts/json.ts';
import type { ToolProgress } from '../../../contracts/tool.ts';
import { sanitize } from '../../../lib/text/sanitize.ts';
import { truncateEnd } from '../../../lib/text/text-width.ts';
import { colored, plain, type StyledSpan } from '../../text/line.ts';
import { shortenTitlePaths } from '../../text/render-context.ts';

/** The result of a finished tool call. */
export type EndedCallOutcome = {
  readonly status: 'done' | 'failed' | 'denied' | 'interrupted' | 'discarded';
  readonly text: string;
  readonly display?: Display;
  readonly durationMs: number;
  /** Set for a denied call. */
  readonly denial?: CallDenial;
};

/** A tool call as shown on the screen. */
export type ToolCallEntry = {
  readonly callId: string;
  readonly tool: string;
  readonly title: string;
  /** Caller: the model, or the user with a `!` line. */
  readonly caller: 'model' | 'user';
  readonly input: JsonValue;
  readonly startedAtMs: number;
  readonly state:
    | { readonly status: 'running' | 'waiting' }
    | { readonly status: 'ended'; readonly outcome: EndedCallOutcome };
  readonly progress?: ToolProgress;
};

/** Returns whether a call has its result. */
export function hasCallEnded(entry: ToolCallEntry): boolean {
  return entry.state.status === 'ended';
}

/** Returns whether a call was a successful lookup: reading a file, searching or listing, also by a command. */
export function isLookup(entry: ToolCallEntry): boolean {
  const { state } = entry;
  if (state.status !== 'ended' || state.outcome.status !== 'done') return false;
  const { display } = state.outcome;
  if (display?.kind === 'output') return entry.caller === 'model' && display.exitCode === 0 && isLookupCommand(entry);
  return display?.kind === 'file' || display?.kind === 'list';
}

/** Commands that only show something, by their first words. */
const LOOKUP_COMMAND =
  /^(?:ls|cat|head|tail|wc|tree|stat|file|du|pwd|which|find|fd|grep|rg|git (?:log|status|branch|blame|ls-files|show --stat|diff --(?:stat|shortstat|numstat|name-only|name-status)))(?: |$)/;
/** Characters that join commands, redirect output or span lines. A pipe into a shorter output is common. */
const JOINED_COMMANDS = /[;&<>`\n]|\$\(|\|(?! *(?:head|tail|wc|sort|uniq|grep|cut) *(?:[^|]*)(?:\||$))/;

function isLookupCommand(entry: ToolCallEntry): boolean {
  const command = getCommandLines(entry)
    .join('\n')
    .replace(/ 2>(?:&1|\/dev\/null)/g, '');
  return LOOKUP_COMMAND.test(command) && !JOINED_COMMANDS.test(command);
}

/** Maximum rows in the history: for output of `!` lines, of successful and failed calls, for new files and diffs. */
export const MAX_OUTPUT_ROWS = { own: 20, done: 3, failed: 8, created: 10, diff: 24 } as const;
const ROW_CHARS = 100;
/** Fewer lines than these are never hidden: a note about them would save nothing. */
export const MIN_HIDDEN_LINES = 4;

/** Returns how many rows of output are shown. */
export function getMaxOutputRows({ caller }: ToolCallEntry, { status }: EndedCallOutcome): number {
  if (caller === 'user') return MAX_OUTPUT_ROWS.own;
  return status === 'failed' ? MAX_OUTPUT_ROWS.failed : MAX_OUTPUT_ROWS.done;
}

/** Returns whether the history shows only a part of the output. */
export function isOutputPartlyShown(entry: ToolCallEntry): boolean {
  const { state } = entry;
  if (state.status !== 'ended' || isLookup(entry)) return false;
  const { status, display, text } = state.outcome;
  const maxRows = getMaxOutputRows(entry, state.outcome);
  switch (display?.kind) {
    case 'diff':
      return display.hunks.reduce((lines, hunk) => lines + hunk.lines.length, 0) > getMaxDiffRows(display);
    case 'output':
      return exceedsRows(display.output, maxRows);
    case 'text':
      return exceedsRows(display.text, maxRows);
    default:
      return status === 'failed' && exceedsRows(text, maxRows);
  }
}

/** Returns the maximum number of rows for a diff in the history. */
export function getMaxDiffRows({ created }: { readonly created: boolean }): number {
  return created ? MAX_OUTPUT_ROWS.created : MAX_OUTPUT_ROWS.diff;
}

function exceedsRows(text: string, rows: number): boolean {
  return text.length > rows * ROW_CHARS || text.trimEnd().split('\n').length > rows;
}

/** The properties of a tool call that its title is made of. */
export type ToolTitleParts = Pick<ToolCallEntry, 'callId' | 'tool' | 'title' | 'input' | 'caller'>;

/** Creates the title of a tool call: tool and subject, or the command as it would be typed. */
export function createToolTitle(entry: ToolTitleParts, cwd: string): readonly StyledSpan[] {
  const { tool, title, caller } = entry;
  const [line] = getCommandLines(entry);
  if (line !== undefined) return [caller === 'user' ? colored('user', `! ${line}`) : bold(`$ ${line}`)];
  const [, server, name] = /^mcp__(.+?)__(.+)$/s.exec(tool) ?? [];
  if (server !== undefined && name !== undefined)
    return [bold(sanitize(`${server}: ${name}`, 'line')), plain(formatArguments(entry.input))];
  // The first word of a title is the verb or the name of the tool.
  const text = sanitize(shortenTitlePaths(title === '' ? tool : title, cwd), 'prompt').split('\n', 1)[0] ?? '';
  const [verb = ''] = text.split(' ', 1);
  return [bold(verb), plain(text.slice(verb.length))];
}

const MAX_ARGUMENT_COLUMNS = 60;

/** Formats the arguments of an MCP tool, truncated to one line. */
function formatArguments(input: ToolCallEntry['input']): string {
  const entries = isJsonObject(input) ? Object.entries(input) : [];
  const args = entries.map(([name, value]) => `${name}: ${typeof value === 'string' ? value : JSON.stringify(value)}`);
  return entries.length === 0 ? '' : `(${truncateEnd(sanitize(args.join(', '), 'line'), MAX_ARGUMENT_COLUMNS)})`;
}

/** Returns the lines of a shell command; none for other calls. */
export function getCommandLines({ tool, title, input, caller }: ToolTitleParts): readonly string[] {
  if (tool !== 'Bash' && caller !== 'user') return [];
  const command = isJsonObject(input) && typeof input.command === 'string' ? input.command.trim() : '';
  return sanitize(command === '' ? title : command, 'prompt').split('\n');
}

/** Returns the description of a sub-agent without the name of the tool. */
export function getSubAgentTitle({ tool, title }: ToolCallEntry, cwd: string): string {
  const text = sanitize(shortenTitlePaths(title, cwd), 'prompt').split('\n', 1)[0] ?? '';
  return text.startsWith(`${tool} `) ? text.slice(tool.length + 1) : text;
}

/** Returns a title made of the input alone: the first line of its first string. */
export function getInputTitle(input: JsonValue): string {
  const values = typeof input === 'object' && input !== null && !Array.isArray(input) ? Object.values(input) : [];
  const text = values.find((value) => typeof value === 'string');
  return typeof text === 'string' ? (text.split('\n', 1)[0] ?? '') : '';
}

function bold(text: string): StyledSpan {
  return { text, style: { bold: true } };
}
