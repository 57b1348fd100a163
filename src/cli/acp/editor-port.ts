import type { Conversation } from '../../contracts/face/conversation.ts';
import type { RunOptions } from '../../contracts/face/run-options.ts';

/** What the agent of an editor needs of the rest of ouro. */
export type EditorPort = {
  /** Options that hold for every session of this process. */
  readonly options: RunOptions;
  readonly version: string;
  readonly open: (
    options: RunOptions,
  ) => Promise<
    { readonly ok: true; readonly conversation: Conversation } | { readonly ok: false; readonly problem: string }
  >;
  /** Stored sessions of a folder, or of all. */
  readonly list: (
    cwd: string | undefined,
  ) => Promise<readonly { readonly id: string; readonly title: string; readonly cwd: string; readonly at: string }[]>;
  /** Deletes a stored session; answers with a sentence when it could not. */
  readonly remove: (id: string) => Promise<string | undefined>;
  /** Why no model can be reached; `undefined` when one can. */
  readonly keyProblem: () => Promise<string | undefined>;
  /** Would a folder bring more if it were trusted? */
  readonly bringsMore: (cwd: string) => Promise<boolean>;
};
