import type { ParsedScript } from 'unbash';

/** The analysis of a command line, made once per call and carried with it. It depends on the text alone. */
export type ShellAnalysis = {
  readonly command: string;
  /** Parses the command line or a script inside it; each text is parsed once. */
  readonly parse: (script: string) => ParsedScript;
  /** The command certainly changes nothing, not even its own folder, so others may run at the same time. */
  readonly isReadOnly: boolean;
  /**
   * Lists the paths where the command may change files when it starts in a folder, including everything below them;
   * `undefined` if they are unknown.
   */
  readonly listChangedPaths: (cwd: string) => readonly string[] | undefined;
};
