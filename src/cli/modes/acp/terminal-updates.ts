import type { ClientCapabilities, SessionUpdate } from '@agentclientprotocol/sdk/unstable';
import type { Display } from '../../../contracts/display.ts';
import type { AgentEvent } from '../../../contracts/event.ts';
import type { ToolResultBlock } from '../../../contracts/message.ts';
import { isCommandTool } from './tool-content.ts';

/** Rewrites the updates of an event for an editor that shows commands in display-only terminals. */
export type AcpTerminalUpdates = (event: AgentEvent, updates: readonly SessionUpdate[]) => readonly SessionUpdate[];

/** Output sent to a terminal: its last characters, its length, and false for `isWhole` after a gap. */
type TerminalState = { readonly end: string; readonly chars: number; readonly isWhole: boolean };

const EMPTY_TERMINAL: TerminalState = { end: '', chars: 0, isWhole: true };
/** Number of sent characters that are kept to find the new output. */
const MAX_END_CHARS = 2_000;
const GAP = '\n[…]\n';

/**
 * Creates terminal updates for editors that can show the output of a command that ouro runs itself. The output is sent
 * in `_meta`, by convention as `terminal_info`, `terminal_output` and `terminal_exit`.
 */
export function createAcpTerminalUpdates({ _meta }: ClientCapabilities, cwd: () => string): AcpTerminalUpdates {
  if (_meta?.terminal_output !== true) return (_, updates) => updates;
  const terminals = new Map<string, TerminalState>();

  function appendOutput(id: string, data: string): readonly SessionUpdate[] {
    if (data === '') return [];
    const { end, chars, isWhole } = terminals.get(id) ?? EMPTY_TERMINAL;
    const hasGap = data.startsWith(GAP);
    terminals.set(id, {
      end: (end + data).slice(-MAX_END_CHARS),
      chars: chars + data.length,
      isWhole: isWhole && !hasGap,
    });
    return [
      addMeta({ sessionUpdate: 'tool_call_update', toolCallId: id }, { terminal_output: { terminal_id: id, data } }),
    ];
  }

  function addTerminal(event: AgentEvent, update: SessionUpdate): readonly SessionUpdate[] {
    if (update.sessionUpdate === 'tool_call') {
      const { toolCallId: id } = update;
      if (!isCommandTool(update.title)) return [update];
      terminals.set(id, EMPTY_TERMINAL);
      const shown = { ...update, content: [{ type: 'terminal' as const, terminalId: id }] };
      return [addMeta(shown, { terminal_info: { terminal_id: id, cwd: cwd() } })];
    }
    if (update.sessionUpdate !== 'tool_call_update') return [update];
    const { toolCallId: id } = update;
    const terminal = terminals.get(id);
    if (terminal === undefined) return [update];
    if (event.type === 'tool_update' && event.progress.kind === 'output')
      return copyMeta(update, appendOutput(id, findNewOutput(terminal.end, event.progress.tail.join('\n'))));
    if (event.type !== 'tool_end') return [update];
    const { content: _, ...ended } = update;
    const rest = copyMeta(
      update,
      appendOutput(id, findRemainingOutput(terminal, extractOutput(event.result, event.display))),
    );
    terminals.delete(id);
    const exit = { terminal_id: id, exit_code: getExitCode(event), signal: null };
    return [...rest, addMeta(ended, { terminal_exit: exit })];
  }

  return (event, updates) => {
    let inner = event;
    while (inner.type === 'subagent') inner = inner.event;
    return updates.flatMap((update) => addTerminal(inner, update));
  };
}

function addMeta<Update extends SessionUpdate>(update: Update, more: Readonly<Record<string, unknown>>): Update {
  return { ...update, _meta: { ...update._meta, ...more } };
}

/** Copies the `_meta` of an update, which names the parent call, to others. */
function copyMeta({ _meta: meta }: SessionUpdate, updates: readonly SessionUpdate[]): readonly SessionUpdate[] {
  return meta === undefined ? updates : updates.map((update) => ({ ...update, _meta: { ...meta, ...update._meta } }));
}

/** Returns the part of the last lines that was not sent yet; starts with a gap if output in between is unknown. */
function findNewOutput(before: string, tail: string): string {
  if (before === '') return tail;
  for (let length = Math.min(before.length, tail.length); length > 0; length -= 1)
    if (before.endsWith(tail.slice(0, length))) return tail.slice(length);
  return tail === '' ? '' : GAP + tail;
}

/** Returns the part of the complete output that was not sent yet. */
function findRemainingOutput({ end, chars, isWhole }: TerminalState, whole: string): string {
  if (isWhole && whole.slice(0, chars).endsWith(end)) return whole.slice(chars);
  const index = whole.lastIndexOf(end);
  return index === -1 ? findNewOutput(end, whole.slice(-MAX_END_CHARS)) : whole.slice(index + end.length);
}

function extractOutput({ content }: ToolResultBlock, display: Display | undefined): string {
  if (display?.kind === 'output') return display.output;
  if (typeof content === 'string') return content;
  return content.flatMap((part) => (part.type === 'text' ? [part.text] : [])).join('\n');
}

function getExitCode({ result, display }: Extract<AgentEvent, { type: 'tool_end' }>): number | null {
  if (display?.kind === 'output') return display.exitCode;
  return result.is_error === true ? 1 : 0;
}
