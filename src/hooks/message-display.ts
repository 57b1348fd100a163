import type { AgentEvent } from '../contracts/event.ts';
import type { JsonObject } from '../contracts/json.ts';
import { createDeferred } from '../lib/promises.ts';
import type { Hooks } from './create-hooks.ts';

type DisplayHooks = Pick<Hooks, 'has' | 'fire' | 'runInBackground'>;

/** A message of the model while it streams. */
type StreamedMessage = { add(text: string): void; end(): void };

/**
 * Creates a listener that fires MessageDisplay with the completed lines of each message of the model. Lines that arrive
 * while a hook runs are sent together, the rest at the end. `onReplacement` is called when a hook returns other text.
 */
export function createMessageDisplayHooks(hooks: DisplayHooks, onReplacement: () => void): (event: AgentEvent) => void {
  let turnId = '';
  let open: StreamedMessage | undefined;
  const end = () => {
    open?.end();
    open = undefined;
  };
  return (event) => {
    switch (event.type) {
      case 'message_update':
        if (event.kind !== 'text' || !hooks.has('MessageDisplay')) return;
        open ??= streamMessage({ turn_id: turnId, message_id: event.messageId }, hooks, onReplacement);
        open.add(event.delta);
        return;
      case 'message_end':
        if (event.message.role === 'user') turnId = event.message.id;
        else end();
        return;
      case 'tombstone':
      case 'agent_end':
        end();
        return;
      default:
    }
  };
}

function streamMessage(fields: JsonObject, hooks: DisplayHooks, onReplacement: () => void): StreamedMessage {
  let text = '';
  let sent = 0;
  let isComplete = false;
  let update = createDeferred<void>();

  /** Returns the unsent complete lines; after the end of the message all the rest. */
  function takeLines(): string | undefined {
    const end = isComplete ? text.length : text.lastIndexOf('\n') + 1;
    return isComplete || end > sent ? text.slice(sent, end) : undefined;
  }

  async function fireLines(signal: AbortSignal): Promise<void> {
    for (let index = 0, final = false; !final && !signal.aborted; ) {
      const delta = takeLines();
      final = isComplete;
      if (delta === undefined) {
        await update.promise;
        update = createDeferred();
        continue;
      }
      sent += delta.length;
      const { displayContent } = await hooks.fire('MessageDisplay', { ...fields, index, final, delta }, signal);
      if (displayContent !== undefined && displayContent !== delta) onReplacement();
      index += 1;
    }
  }

  hooks.runInBackground(fireLines);
  return {
    add(more) {
      text += more;
      update.resolve();
    },
    end() {
      isComplete = true;
      update.resolve();
    },
  };
}
