import type { QueuedMessage } from '../../contracts/event.ts';
import type { Message } from '../../contracts/message.ts';

/** The ids that hosts give to their messages, beside our own. */
export type HostIds = {
  /** The next prompt of the conversation goes by this id. */
  expect(uuid: string | undefined): void;
  /** A prompt has joined the conversation. */
  joined(message: Message): void;
  queued(uuid: string | undefined, item: QueuedMessage): void;
  /** What the host calls one of our messages. */
  theirs(messageId: string): string | undefined;
  /** What we call it; an id we do not know is one of ours. */
  messageOf(uuid: string): string;
  /** Where a message waits that was not delivered yet. */
  queueOf(uuid: string): string | undefined;
};

export function createHostIds(): HostIds {
  const theirs = new Map<string, string>();
  const messages = new Map<string, string>();
  const queues = new Map<string, string>();
  const awaited: (string | undefined)[] = [];

  function name(uuid: string | undefined, messageId: string): void {
    if (uuid === undefined) return;
    theirs.set(messageId, uuid);
    messages.set(uuid, messageId);
  }

  return {
    expect: (uuid) => void awaited.push(uuid),
    joined(message) {
      if (message.role === 'user' && message.origin === 'prompt') name(awaited.shift(), message.id);
    },
    queued(uuid, { id, message }) {
      name(uuid, message.id);
      if (uuid !== undefined) queues.set(uuid, id);
    },
    theirs: (messageId) => theirs.get(messageId),
    messageOf: (uuid) => messages.get(uuid) ?? uuid,
    queueOf: (uuid) => queues.get(uuid),
  };
}
