import type { AgentEvent } from '../../contracts/event.ts';

/** Collects garbage: young objects only, which takes a few milliseconds, or all. */
export type GarbageCollector = { readonly edenGC: () => unknown; readonly fullGC: () => unknown };

/** Replies after which young objects are collected within a run. */
const REPLIES_PER_COLLECTION = 8;
/** Collections of which one is full. Full ones take longer, and compiled code that is no longer used goes with them. */
const FULL_EVERY = 6;
/** The last frame of a run is drawn first. */
const DELAY_MS = 20;

/**
 * Returns a listener that collects garbage when a run ends and now and then within a long one. Left alone, the runtime
 * waits until the heap has doubled, and the memory it then has in use is never returned.
 */
export function createGarbageCollectionListener(
  collector: GarbageCollector | undefined = findGarbageCollector(),
): (event: AgentEvent) => void {
  let replies = 0;
  let collections = 0;
  let timer: ReturnType<typeof setTimeout> | undefined;
  function collect(): void {
    timer = undefined;
    collections += 1;
    if (collections % FULL_EVERY === 0) collector?.fullGC();
    else collector?.edenGC();
  }
  return (event) => {
    if (event.type === 'message_end' && event.message.role === 'assistant') replies += 1;
    if (timer !== undefined || (event.type !== 'agent_end' && replies < REPLIES_PER_COLLECTION)) return;
    replies = 0;
    timer = setTimeout(collect, DELAY_MS).unref();
  };
}

/** Returns the collector of Bun; other runtimes have none. @internal Exported for tests. */
export function findGarbageCollector(): GarbageCollector | undefined {
  const runtime: unknown = process.getBuiltinModule?.('bun:jsc');
  return isCollector(runtime) ? runtime : undefined;
}

function isCollector(value: unknown): value is GarbageCollector {
  return typeof value === 'object' && value !== null && 'edenGC' in value && 'fullGC' in value;
}
