import type { JsonObject } from '@ouro-cli/ouro/commands';
import type { Message } from '@ouro-cli/ouro/sessions';

/** The kinds of things that can be imported from other assistants. */
export const FOREIGN_IMPORT_KINDS = ['settings', 'instructions', 'servers', 'commands', 'sessions'] as const;

/** The place in which something is found and to which it goes: in the project, or with the user's own files. */
export type ForeignImportScope = 'project' | 'user';

/** One thing of another assistant, with what of it cannot be imported. */
export type ForeignImportItem = {
  /** Name of the assistant. */
  readonly assistant: string;
  readonly scope: ForeignImportScope;
  /** Path for display, relative to the project or to the home folder. */
  readonly path: string;
  readonly lost: readonly string[];
} & (
  | { readonly kind: 'settings'; readonly from: string; readonly holds: readonly string[] }
  /** An entry of `instructionFiles`, and the files it matches. */
  | { readonly kind: 'instructions'; readonly entry: string; readonly files: readonly string[] }
  | { readonly kind: 'servers'; readonly name: string; readonly entry: JsonObject }
  | { readonly kind: 'commands'; readonly name: string; readonly text: string }
  | {
      readonly kind: 'sessions';
      /** The id that the session gets here. */
      readonly id: string;
      readonly cwd: string;
      readonly title: string | undefined;
      readonly messages: readonly Message[];
      readonly updatedMs: number;
    }
);

/** The folders in which files of other assistants are looked for. */
export type ForeignImportFolders = { readonly cwd: string; readonly home: string; readonly ouroHome: string };
