/** A program that only reads, and every option of it that was looked at. */
export type ReadOnlyCommand = {
  /** Short options as letters; `:` after a letter for a number, `=` for text, `@` for a path. */
  readonly short: string;
  /** Long options: `name`, `name=` text, `name#` number, `name@` path, `name?` optional text. */
  readonly long: readonly string[];
  readonly operands: 'paths' | 'text' | 'none' | 'pattern-then-paths' | 'format';
  readonly maxOperands?: number;
  /** Descends through links, so a link to elsewhere under a searched folder matters. */
  readonly follows?: readonly string[];
  /**
   * `anywhere`: no option of it is dangerous, so a glob that begins with a dash does no harm. `checked`: one could tell
   * too much, so what the glob matches now is looked at. `guarded`: one could write or run something.
   */
  readonly globs: 'anywhere' | 'checked' | 'guarded';
  /** `-20` in place of `-n 20`. */
  readonly digits?: 'count';
  /** Without a path it reads the working folder and everything below. */
  readonly searches?: 'always' | 'recursive-flag';
};

/** The words of a text, for lists that are easier to read as one line. */
export const words = (text: string): readonly string[] => text.split(' ').filter((word) => word !== '');
