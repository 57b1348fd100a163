import type { Io } from '../io.ts';
import type { Shutdown } from '../shutdown.ts';

/** What a subcommand is given: its words and flags, split but not yet understood. */
export type CommandRequest = {
  readonly words: readonly string[];
  readonly flags: Readonly<Record<string, unknown>>;
  readonly io: Io;
  readonly shutdown: Shutdown;
};
