import type { AssistantBlock, AssistantMessage } from '../contracts/message.ts';
import type { ModelEvent, ModelOutcome, ModelPort } from '../contracts/model.ts';

/** Maps the tool name a model calls to the tool to run, as set by a host. Aliases are not resolved recursively. */
export type ToolAliases = Readonly<Record<string, string>>;

/** Wraps a port so that tool calls in its replies name the aliased tools. */
export function applyToolAliases(port: ModelPort, aliases: ToolAliases = {}): ModelPort {
  if (Object.keys(aliases).length === 0) return port;
  const resolveName = (name: string) => (Object.hasOwn(aliases, name) ? (aliases[name] ?? name) : name);
  return {
    ...port,
    async *stream(request, options, signal) {
      const stream = port.stream(request, options, signal);
      try {
        let next = await stream.next();
        while (next.done !== true) {
          yield renameInEvent(next.value, resolveName);
          next = await stream.next();
        }
        return renameInOutcome(next.value, resolveName);
      } finally {
        await stream.return(ABANDONED);
      }
    },
  };
}

/** Outcome of a stream whose reader stopped early; never read. */
const ABANDONED: ModelOutcome = { ok: false, failure: { kind: 'aborted', message: 'The stream was abandoned.' } };

type ResolveName = (name: string) => string;

function renameInEvent(event: ModelEvent, resolveName: ResolveName): ModelEvent {
  if (event.type === 'block_end') return { ...event, block: renameInBlock(event.block, resolveName) };
  if (event.type === 'block_start' && event.name !== undefined) return { ...event, name: resolveName(event.name) };
  return event;
}

function renameInOutcome(outcome: ModelOutcome, resolveName: ResolveName): ModelOutcome {
  if (outcome.ok) return { ...outcome, message: renameInMessage(outcome.message, resolveName) };
  return outcome.partial === undefined
    ? outcome
    : { ...outcome, partial: renameInMessage(outcome.partial, resolveName) };
}

function renameInMessage(message: AssistantMessage, resolveName: ResolveName): AssistantMessage {
  return { ...message, blocks: message.blocks.map((block) => renameInBlock(block, resolveName)) };
}

function renameInBlock(block: AssistantBlock, resolveName: ResolveName): AssistantBlock {
  return block.type === 'tool_use' ? { ...block, name: resolveName(block.name) } : block;
}
