import type { AssistantBlock, AssistantMessage } from '../contracts/message.ts';
import type { ModelEvent, ModelOutcome, ModelPort } from '../contracts/model.ts';

/** Tools that a host offers in the place of ours, by the name the model may call. One step: an alias of an alias is none. */
export type ToolAliases = Readonly<Record<string, string>>;

/** A port whose replies call tools by the names they stand for; everybody behind it sees only those. */
export function withToolAliases(port: ModelPort, aliases: ToolAliases = {}): ModelPort {
  if (Object.keys(aliases).length === 0) return port;
  const nameOf = (name: string) => (Object.hasOwn(aliases, name) ? (aliases[name] ?? name) : name);
  return {
    ...port,
    async *stream(request, options, signal) {
      const stream = port.stream(request, options, signal);
      try {
        let next = await stream.next();
        while (next.done !== true) {
          yield eventWith(next.value, nameOf);
          next = await stream.next();
        }
        return outcomeWith(next.value, nameOf);
      } finally {
        await stream.return(ABANDONED);
      }
    },
  };
}

/** Nobody reads what a stream that was left early came to. */
const ABANDONED: ModelOutcome = { ok: false, failure: { kind: 'aborted', message: 'Nobody listens any more.' } };

type NameOf = (name: string) => string;

function eventWith(event: ModelEvent, nameOf: NameOf): ModelEvent {
  if (event.type === 'block_end') return { ...event, block: blockWith(event.block, nameOf) };
  if (event.type === 'block_start' && event.name !== undefined) return { ...event, name: nameOf(event.name) };
  return event;
}

function outcomeWith(outcome: ModelOutcome, nameOf: NameOf): ModelOutcome {
  if (outcome.ok) return { ...outcome, message: messageWith(outcome.message, nameOf) };
  return outcome.partial === undefined ? outcome : { ...outcome, partial: messageWith(outcome.partial, nameOf) };
}

function messageWith(message: AssistantMessage, nameOf: NameOf): AssistantMessage {
  return { ...message, blocks: message.blocks.map((block) => blockWith(block, nameOf)) };
}

function blockWith(block: AssistantBlock, nameOf: NameOf): AssistantBlock {
  return block.type === 'tool_use' ? { ...block, name: nameOf(block.name) } : block;
}
