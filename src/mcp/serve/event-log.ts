import type { EventStore } from '@modelcontextprotocol/sdk/server/streamableHttp.js';
import type { JSONRPCMessage } from '@modelcontextprotocol/sdk/types.js';

const MOST_EVENTS = 1_000;

type Kept = { readonly id: string; readonly streamId: string; readonly message: JSONRPCMessage };

/** The last things one client was told, so that it can come back for what it has missed. */
export function createEventLog(): EventStore {
  let events: readonly Kept[] = [];
  let count = 0;
  return {
    async storeEvent(streamId, message) {
      count += 1;
      const id = `${streamId}_${count}`;
      events = [...events, { id, streamId, message }].slice(-MOST_EVENTS);
      return id;
    },
    async getStreamIdForEventId(id) {
      return events.find((event) => event.id === id)?.streamId;
    },
    async replayEventsAfter(last, { send }) {
      const at = events.findIndex(({ id }) => id === last);
      const streamId = events[at]?.streamId ?? '';
      for (const event of events.slice(at + 1)) if (event.streamId === streamId) await send(event.id, event.message);
      return streamId;
    },
  };
}
