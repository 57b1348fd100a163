import type { ClientCapabilities, SessionUpdate } from '@agentclientprotocol/sdk/unstable';
import type { Display } from '../../contracts/display.ts';
import type { AgentEvent } from '../../contracts/event.ts';
import type { ToolResultBlock } from '../../contracts/message.ts';
import { runsCommand } from './tool-content.ts';

/** Dresses the updates of an event for an editor that shows commands in terminals of its own. */
export type ShownTerminals = (event: AgentEvent, updates: readonly SessionUpdate[]) => readonly SessionUpdate[];

/** What a terminal was told: its end, how much it was, and whether nothing was left out. */
type Told = { readonly end: string; readonly chars: number; readonly isWhole: boolean };

const NOTHING: Told = { end: '', chars: 0, isWhole: true };
/** So much of what was told is kept to find out what is new. */
const KEPT_CHARS = 2_000;
const GAP = '\n[…]\n';

/**
 * Some editors show a terminal for a command that runs elsewhere: they are told what it prints, by a convention in
 * `_meta` (`terminal_info`, `terminal_output`, `terminal_exit`). The command stays where it is.
 */
export function createShownTerminals({ _meta }: ClientCapabilities, cwd: () => string): ShownTerminals {
  if (_meta?.terminal_output !== true) return (_, updates) => updates;
  const told = new Map<string, Told>();

  function output(id: string, data: string): readonly SessionUpdate[] {
    if (data === '') return [];
    const { end, chars, isWhole } = told.get(id) ?? NOTHING;
    const hasGap = data.startsWith(GAP);
    told.set(id, { end: (end + data).slice(-KEPT_CHARS), chars: chars + data.length, isWhole: isWhole && !hasGap });
    return [
      withMeta({ sessionUpdate: 'tool_call_update', toolCallId: id }, { terminal_output: { terminal_id: id, data } }),
    ];
  }

  function dressed(event: AgentEvent, update: SessionUpdate): readonly SessionUpdate[] {
    if (update.sessionUpdate === 'tool_call') {
      const { toolCallId: id } = update;
      if (!runsCommand(update.title)) return [update];
      told.set(id, NOTHING);
      const shown = { ...update, content: [{ type: 'terminal' as const, terminalId: id }] };
      return [withMeta(shown, { terminal_info: { terminal_id: id, cwd: cwd() } })];
    }
    if (update.sessionUpdate !== 'tool_call_update') return [update];
    const { toolCallId: id } = update;
    const before = told.get(id);
    if (before === undefined) return [update];
    if (event.type === 'tool_update' && event.progress.kind === 'output')
      return nestedAs(update, output(id, following(before.end, event.progress.tail.join('\n'))));
    if (event.type !== 'tool_end') return [update];
    const { content: _, ...ended } = update;
    const rest = nestedAs(update, output(id, remaining(before, wordsOf(event.result, event.display))));
    told.delete(id);
    const exit = { terminal_id: id, exit_code: codeOf(event), signal: null };
    return [...rest, withMeta(ended, { terminal_exit: exit })];
  }

  return (event, updates) => {
    let inner = event;
    while (inner.type === 'subagent') inner = inner.event;
    return updates.flatMap((update) => dressed(inner, update));
  };
}

function withMeta<Update extends SessionUpdate>(update: Update, more: Readonly<Record<string, unknown>>): Update {
  return { ...update, _meta: { ...update._meta, ...more } };
}

/** Whatever the first says of whose call it is, the others say too. */
function nestedAs({ _meta: meta }: SessionUpdate, updates: readonly SessionUpdate[]): readonly SessionUpdate[] {
  return meta === undefined ? updates : updates.map((one) => ({ ...one, _meta: { ...meta, ...one._meta } }));
}

/** What comes behind what was told, where only the last lines are known. */
function following(before: string, tail: string): string {
  if (before === '') return tail;
  for (let length = Math.min(before.length, tail.length); length > 0; length -= 1)
    if (before.endsWith(tail.slice(0, length))) return tail.slice(length);
  return tail === '' ? '' : GAP + tail;
}

/** The same, where the whole is known. */
function remaining({ end, chars, isWhole }: Told, whole: string): string {
  if (isWhole && whole.slice(0, chars).endsWith(end)) return whole.slice(chars);
  const at = whole.lastIndexOf(end);
  return at === -1 ? following(end, whole.slice(-KEPT_CHARS)) : whole.slice(at + end.length);
}

function wordsOf({ content }: ToolResultBlock, display: Display | undefined): string {
  if (display?.kind === 'output') return display.output;
  if (typeof content === 'string') return content;
  return content.flatMap((part) => (part.type === 'text' ? [part.text] : [])).join('\n');
}

function codeOf({ result, display }: Extract<AgentEvent, { type: 'tool_end' }>): number | null {
  if (display?.kind === 'output') return display.exitCode;
  return result.is_error === true ? 1 : 0;
}
