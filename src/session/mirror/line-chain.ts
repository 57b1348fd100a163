import type { JsonObject } from '../../contracts/json.ts';
import type { SessionRecord } from '../../contracts/session.ts';
import { lineUuid } from '../../lib/line-uuid.ts';

/** Whose lines they are: of the conversation, or of one of its sub-agents. */
export type Speaker = { readonly sessionId: string; readonly agentId?: string };

/** Where the lines of a message stand: behind which, and which they are. */
type Place = { readonly after: string | null; readonly uuids: readonly string[] };

/** Lines that each name the one before them. */
export type LineChain = {
  /** The newest line; the next one names it. */
  last(): string | null;
  /** The next line follows this one. */
  goTo(uuid: string | null): void;
  /** A line of its own behind the newest; `wanted` is its id unless another line has it. */
  line(record: SessionRecord, wanted: string, said: JsonObject): JsonObject;
  /** The lines of a message, which can be found again by its id. */
  placed(messageId: string, write: () => readonly JsonObject[]): readonly JsonObject[];
  placeOf(messageId: string): Place | undefined;
  /** The lines of a message follow another line from now on. */
  move(messageId: string, after: string | null): void;
};

export function createLineChain({ sessionId, agentId }: Speaker): LineChain {
  let last: string | null = null;
  const used = new Set<string>();
  const places = new Map<string, Place>();
  const speaker = agentId === undefined ? { isSidechain: false } : { isSidechain: true, agentId };

  return {
    last: () => last,
    goTo: (uuid) => {
      last = uuid;
    },
    line(record, wanted, said) {
      // Some servers count their replies from zero.
      const ids = [wanted, record.uuid, lineUuid(record.uuid, used.size)];
      const uuid = ids.find((id) => !used.has(id)) ?? wanted;
      used.add(uuid);
      const parentUuid = last;
      last = uuid;
      const { cwd, version, gitBranch = '', timestamp } = record;
      const head = { ...speaker, userType: 'external', cwd, sessionId, version, gitBranch };
      return { parentUuid, ...head, ...said, uuid, timestamp };
    },
    placed(messageId, write) {
      const after = last;
      const lines = write();
      places.set(messageId, { after, uuids: lines.map(({ uuid }) => String(uuid)) });
      return lines;
    },
    placeOf: (messageId) => places.get(messageId),
    move(messageId, after) {
      places.set(messageId, { after, uuids: places.get(messageId)?.uuids ?? [] });
    },
  };
}
