import type { Worked } from '../session.ts';

/** One line of a list of sessions; the id is what `--resume` takes. */
export type SessionChoiceInfo = { readonly id: string; readonly label: string; readonly detail: string };

/** What was worked on before: how long ago, and how much was done where that is known. */
export type LastSession = { readonly title: string; readonly modifiedMs: number; readonly worked?: Worked };

/** Which sessions a list shows: those of this folder, those of its present branch only, or all. */
export type SessionScope = 'folder' | 'branch' | 'all';

/** Stored sessions for a picker. */
export type StoredSessionsPort = {
  /** The one of this folder that was worked in last. */
  last(): Promise<LastSession | undefined>;
  /** Newest first, the one that is open left out. */
  list(scope: SessionScope): Promise<readonly SessionChoiceInfo[]>;
  /** Sessions in which these words were said, the newest first; each as soon as it is found, with the place in `detail`. */
  search(words: string, scope: SessionScope, signal: AbortSignal): AsyncGenerator<SessionChoiceInfo, void>;
  /** The end of what was said, as Markdown. */
  preview(id: string): Promise<string | undefined>;
  /** Answers with why not, if it could not be done. */
  rename(id: string, title: string): Promise<string | undefined>;
  remove(id: string): Promise<string | undefined>;
};
