/** A program that ouro is about to start by itself: its words, or a line for a shell. */
export type ProgramStart = {
  readonly command: { readonly argv: readonly string[] } | { readonly line: string };
  readonly cwd: string;
  readonly variables: Readonly<Record<string, string | undefined>>;
  /** Variables that its own entry sets; it gets these even if they hold secrets. */
  readonly entryVariables?: readonly string[];
  /** Set if the settings of the project name it. */
  readonly origin?: 'project';
  /** The request of its entry for more than the sandbox of programs of the project gives. */
  readonly sandbox?: ProgramSandboxRequest;
  /** A folder that it writes besides the workspace. */
  readonly writableFolder?: string;
};

/** The request of an entry for network access in the sandbox, or for no sandbox at all. */
export type ProgramSandboxRequest = 'network' | 'off';

/** The use of the workspace by a program that ouro starts by itself. */
export type ProgramUse = 'reads' | 'writes';

/** Permission for a start, with the function that limits it; or the sentence that says why it is refused. */
export type ProgramCheckResult =
  | {
      readonly ok: true;
      readonly wrap: (argv: readonly string[]) => readonly string[];
      /** Set if it runs in the sandbox where the workspace is writable. */
      readonly sandbox?: ProgramSandboxRun;
    }
  | { readonly ok: false; readonly why: string };

/** A run in the sandbox. `ended` must be called when all processes of the program have ended. */
export type ProgramSandboxRun = { readonly hasNetwork: boolean; readonly ended: () => void };

/** Decides about a program before ouro starts it by itself. Every such start passes one, as a test enforces. */
export type ProgramCheck = (start: ProgramStart, use: ProgramUse) => Promise<ProgramCheckResult>;

/** Starts everything on the host: for programs that the host of the library chose in its own code. */
export const startUnchecked: ProgramCheck = async () => ({ ok: true, wrap: (argv) => argv });
