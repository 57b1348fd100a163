/** What every search is told. */
type Scope = {
  /** The directory searched; paths in answers are relative to it. */
  readonly root: string;
  /** Never entered and never read: absolute paths, or globs in the manner of .gitignore. */
  readonly excluded: readonly string[];
};

type FileQuery = Scope & {
  /** Also what a .gitignore and its like leave out. */
  readonly ignored?: 'listed';
};

export type TextQuery = Scope & {
  readonly pattern: string;
  readonly mode: 'content' | 'files_with_matches' | 'count';
  /** One file of the root instead of all. */
  readonly file?: string;
  readonly glob?: string;
  readonly type?: string;
  readonly before: number;
  readonly after: number;
  readonly lineNumbers: 'shown' | 'hidden';
  readonly letters: 'exact' | 'any_case';
  readonly span: 'line' | 'multiline';
};

/** Takes text as it comes and says when it has enough; then the search is stopped. */
export type Taker = (text: string) => 'more' | 'enough';

/**
 * A way to search. `listFiles` gives a path a line. `search` gives records as ripgrep writes them with `--null`:
 * `path NUL` and then the line, the count, or nothing and no newline when only files are wanted.
 */
export type Locator = {
  readonly name: string;
  listFiles(query: FileQuery, take: Taker, signal: AbortSignal): Promise<void>;
  search(query: TextQuery, take: Taker, signal: AbortSignal): Promise<void>;
};
