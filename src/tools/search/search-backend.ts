import { ToolFailure } from '../../contracts/tool.ts';

/** The files that a search covers. */
type Scope = {
  /** Directory to search; result paths are relative to it. */
  readonly root: string;
  /** Absolute paths and .gitignore-style globs that are never entered or read. */
  readonly excluded: readonly string[];
};

type FileQuery = Scope & {
  /** Includes files that ignore files exclude. */
  readonly ignored?: 'listed';
};

export type TextQuery = Scope & {
  readonly pattern: string;
  readonly mode: 'content' | 'files_with_matches' | 'count';
  /** Single file of the root to search. */
  readonly file?: string;
  readonly glob?: string;
  readonly type?: string;
  readonly before: number;
  readonly after: number;
  readonly lineNumbers: 'shown' | 'hidden';
  readonly letters: 'exact' | 'any_case';
  readonly span: 'line' | 'multiline';
};

/** The pattern of a search is not a valid regular expression. */
export class InvalidPattern extends ToolFailure {}

/** Receives output as it arrives; returns `enough` to stop the search. */
export type SearchChunkHandler = (text: string) => 'more' | 'enough';

/**
 * A search backend. `listFiles` outputs one path per line. `search` outputs records in the format of `rg --null`:
 * `path NUL` followed by the line or the count; in `files_with_matches` mode nothing follows, not even a newline.
 */
export type SearchBackend = {
  readonly name: string;
  listFiles(query: FileQuery, take: SearchChunkHandler, signal: AbortSignal): Promise<void>;
  search(query: TextQuery, take: SearchChunkHandler, signal: AbortSignal): Promise<void>;
};

/** Dependencies of the search tools. */
export type SearchDeps = {
  readonly locator: SearchBackend;
  readonly home: string;
  /** Returns the paths and .gitignore-style globs that may not be read; called for every search. */
  readonly excluded: () => readonly string[];
  /** Returns the mounts that did not answer and were left out. */
  readonly listHungMounts?: () => readonly string[];
  /** Called with the real paths of files whose lines were shown to the model. */
  readonly onShown?: (files: readonly string[], callId: string) => Promise<void>;
};
