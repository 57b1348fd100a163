import type { Environment } from '../environment.ts';

/** Imports from other assistants, which are loaded when somebody asks for them. */
export type ForeignImports = {
  /** Lists files of other assistants that ouro does not read. */
  readonly listFiles: (environment: Environment, folder: string) => Promise<readonly string[]>;
  /** Finds what words like `cursor servers` select; changes nothing. */
  readonly plan: (environment: Environment, folder: string, words: readonly string[]) => Promise<ForeignImportPlan>;
  /** Copies the files of Claude Code, stores that the user wanted it, and returns messages about the result. */
  readonly importClaudeFiles: (from: string, ouroHome: string) => Promise<readonly string[]>;
};

/** The selected items and those that cannot be imported, in lines for people; or why nothing can be selected. */
export type ForeignImportPlan =
  | { readonly ok: false; readonly problem: string }
  | {
      readonly ok: true;
      /** The number of items that can be imported. */
      readonly count: number;
      readonly lines: readonly string[];
      /** Items that are left out, with the reasons; `lines` has them, too. */
      readonly skipped: readonly string[];
      /** Imports the items. Existing files, servers and settings are never replaced. */
      readonly apply: () => Promise<ForeignImportResult>;
    };

/** The result of an import: what was taken, and what failed. */
export type ForeignImportResult = { readonly taken: readonly string[]; readonly failed: readonly string[] };
