import type { QueuedMessage } from '../../../contracts/event.ts';
import type { Message } from '../../../contracts/message.ts';

/** A map between the ids hosts give their messages and the message ids of the conversation. */
export type HostMessageIdMap = {
  /** Assigns this host id to the next prompt that is added to the conversation. */
  expectPrompt(uuid: string | undefined): void;
  /** Records a message that was added to the conversation. */
  recordMessage(message: Message): void;
  recordQueued(uuid: string | undefined, item: QueuedMessage): void;
  getHostId(messageId: string): string | undefined;
  /** Returns the message id for a host id; an unknown id is returned unchanged, it may be a message id. */
  getMessageId(uuid: string): string;
  getQueueId(uuid: string): string | undefined;
};

export function createHostMessageIdMap(): HostMessageIdMap {
  const hostIds = new Map<string, string>();
  const messageIds = new Map<string, string>();
  const queueIds = new Map<string, string>();
  const expectedUuids: (string | undefined)[] = [];

  function link(uuid: string | undefined, messageId: string): void {
    if (uuid === undefined) return;
    hostIds.set(messageId, uuid);
    messageIds.set(uuid, messageId);
  }

  return {
    expectPrompt: (uuid) => void expectedUuids.push(uuid),
    recordMessage(message) {
      if (message.role === 'user' && message.origin === 'prompt') link(expectedUuids.shift(), message.id);
    },
    recordQueued(uuid, { id, message }) {
      link(uuid, message.id);
      if (uuid !== undefined) queueIds.set(uuid, id);
    },
    getHostId: (messageId) => hostIds.get(messageId),
    getMessageId: (uuid) => messageIds.get(uuid) ?? uuid,
    getQueueId: (uuid) => queueIds.get(uuid),
  };
}
