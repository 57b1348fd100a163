import { createAgentConnection } from '../agent/agent-connection.ts';
import type { Agent, AgentListener } from '../contracts/agent.ts';
import type { AgentEvent } from '../contracts/event.ts';
import type { SessionCore } from '../contracts/session-core.ts';
import type { Extensions } from '../extensions/load-extensions.ts';
import type { GitRepository } from '../git/git-repository.ts';
import type { FileLocks } from '../lib/files/file-locks.ts';
import type { MountHealth } from '../lib/files/mount-health.ts';
import type { KnownKeys } from '../lib/text/known-keys.ts';
import { wrapInReminder } from '../lib/text/reminder.ts';
import type { ModelRegistry } from '../model/registry/model-registry.ts';
import type { UsageMeter } from '../model/usage-meter.ts';
import type { ProgramApprovals } from '../settings/program-approvals.ts';

/** The values that every part of a conversation needs, created first. A part is `createX(core, deps)`. */
export type Core = SessionCore & {
  /** Returns whether the user has accepted that instructions of the folder import this file from outside. */
  readonly acceptsExternalFile: (realPath: string) => boolean;
  /** The approved programs of the folder. */
  readonly programs: ProgramApprovals;
  readonly extensions: CurrentExtensions;
  readonly model: ModelRegistry;
  /** Keys that are not stored with the session. */
  readonly knownKeys: KnownKeys;
  /** Returns the model for side requests; `undefined` when they are disabled. */
  readonly smallModel: () => string | undefined;
  readonly meter: UsageMeter;
  readonly repository: GitRepository;
  readonly mounts: MountHealth;
  readonly locks: FileLocks;
  readonly bus: EventBus;
  readonly inbox: Inbox;
};

/** The current extensions: commands, skills, sub-agents and output styles. */
export type CurrentExtensions = {
  current(): Extensions;
  /** Reads extension files again if they have changed. */
  refresh(): Promise<void>;
  /** Reads all extension files again. */
  reload(): Promise<void>;
};

/** The event bus of a conversation, usable before the agent exists. */
export type EventBus = ReturnType<typeof createEventBus>;

/** Creates a bus; events wait for the agent, notices for listeners that join before the first prompt. */
export function createEventBus() {
  const connection = createAgentConnection();
  let notices: readonly AgentEvent[] | undefined = [];
  return {
    ...connection,
    async emit(event: AgentEvent) {
      if (event.type === 'notice' && notices !== undefined) notices = [...notices, event];
      await connection.emit(event);
    },
    /** Subscribes a listener. Before the first prompt it also gets the earlier notices. */
    subscribe(subscribe: Agent['subscribe'], listener: AgentListener): () => void {
      if (notices === undefined) return subscribe(listener);
      const delivered = new Set<AgentEvent>();
      const deliverOnce: AgentListener = (event) => {
        if (event.type === 'notice' && notices !== undefined) {
          if (delivered.has(event)) return undefined;
          delivered.add(event);
        }
        return listener(event);
      };
      const unsubscribe = subscribe(deliverOnce);
      let isClosed = false;
      // Deferred, so that the caller has the unsubscribe function before the listener is called.
      queueMicrotask(() => {
        for (const event of isClosed ? [] : (notices ?? [])) void deliverOnce(event);
      });
      return () => {
        isClosed = true;
        unsubscribe();
      };
    },
    /** Starts the first prompt: later subscribers no longer get earlier notices. */
    dropNotices() {
      notices = undefined;
    },
  };
}

/** The texts that parts of ouro leave for the next request. */
export type Inbox = ReturnType<typeof createInbox>;

/** Creates an inbox with the texts of an earlier run. */
export function createInbox(earlier: readonly string[] = []) {
  let texts = earlier;
  return {
    name: 'inbox',
    add(text: string): void {
      texts = [...texts, text];
    },
    isEmpty: (): boolean => texts.length === 0,
    async reminders(): Promise<readonly string[]> {
      const taken = texts;
      texts = [];
      return taken.map(wrapInReminder);
    },
  };
}
