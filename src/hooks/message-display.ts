import type { AgentEvent } from '../contracts/event.ts';
import type { JsonObject } from '../contracts/json.ts';
import { deferred } from '../lib/deferred.ts';
import type { Hooks } from './create-hooks.ts';

type Hearing = Pick<Hooks, 'has' | 'fire' | 'behind'>;

/** One message of the model while it is shown. */
type Shown = { add(text: string): void; end(): void };

/**
 * Tells hooks of MessageDisplay the lines of each message of the model as they are complete: what came while one of them
 * still runs comes together, and the last has the rest. `onOthers` hears when one wants other words shown.
 */
export function createMessageDisplay(hooks: Hearing, onOthers: () => void): (event: AgentEvent) => void {
  let turnId = '';
  let open: Shown | undefined;
  const end = () => {
    open?.end();
    open = undefined;
  };
  return (event) => {
    switch (event.type) {
      case 'message_update':
        if (event.kind !== 'text' || !hooks.has('MessageDisplay')) return;
        open ??= show({ turn_id: turnId, message_id: event.messageId }, hooks, onOthers);
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

function show(about: JsonObject, hooks: Hearing, onOthers: () => void): Shown {
  let text = '';
  let told = 0;
  let isOver = false;
  let news = deferred<void>();

  /** The lines that are complete; in the end whatever is left. */
  function next(): string | undefined {
    const end = isOver ? text.length : text.lastIndexOf('\n') + 1;
    return isOver || end > told ? text.slice(told, end) : undefined;
  }

  async function tell(signal: AbortSignal): Promise<void> {
    for (let index = 0, final = false; !final && !signal.aborted; ) {
      const delta = next();
      final = isOver;
      if (delta === undefined) {
        await news.promise;
        news = deferred();
        continue;
      }
      told += delta.length;
      const { displayContent } = await hooks.fire('MessageDisplay', { ...about, index, final, delta }, signal);
      if (displayContent !== undefined && displayContent !== delta) onOthers();
      index += 1;
    }
  }

  hooks.behind(tell);
  return {
    add(more) {
      text += more;
      news.resolve();
    },
    end() {
      isOver = true;
      news.resolve();
    },
  };
}
