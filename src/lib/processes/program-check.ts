/** A program that ouro is about to start by itself: its words, or a line for a shell. */
export type ProgramStart = {
  readonly command: { readonly argv: readonly string[] } | { readonly line: string };
  readonly cwd: string;
  readonly variables: Readonly<Record<string, string | undefined>>;
  /** Variables that its own entry sets; it gets these even if they hold secrets. */
  readonly entryVariables?: readonly string[];
  /** Set if the settings of the project name it. */
  readonly origin?: 'project';
  /** The requests of its entry for more than the sandbox of programs of the project gives. */
  readonly sandbox?: ProgramSandboxRequest | readonly ProgramSandboxRequest[];
  /** A folder that it writes besides the workspace. */
  readonly writableFolder?: string;
};

/** The request of an entry for a writable workspace or network access in the sandbox, or for no sandbox at all. */
export type ProgramSandboxRequest = 'write' | 'network' | 'off';

/** Describes what an entry asks for beyond the sandbox of programs of the project. */
export function describeSandboxRequest(requests: NonNullable<ProgramStart['sandbox']>): string {
  const list = [requests].flat();
  if (list.includes('off')) return 'outside the sandbox';
  return `with ${list.map((request) => (request === 'write' ? 'write access to the workspace' : 'network')).join(' and ')}`;
}

/**
 * The use of the workspace by a program that ouro starts by itself. What `reads` runs for a moment, what `serves` as long
 * as the session; formatters and linters that fix are `formats`, hooks and monitors `writes`.
 */
export type ProgramUse = 'reads' | 'serves' | 'formats' | 'writes';

/** Permission for a start, with the function that limits it; or the sentence that says why it is refused. */
export type ProgramCheckResult =
  | {
      readonly ok: true;
      readonly wrap: (argv: readonly string[]) => readonly string[];
      /** Variables that the process must not have: `wrap` sets them for the program alone, not for what limits it. */
      readonly innerVariables?: readonly string[];
      /** Set if it runs in the sandbox of commands. */
      readonly sandbox?: ProgramSandboxRun;
    }
  | { readonly ok: false; readonly problem: string };

/** A run in the sandbox. `ended` must be called when all processes of the program have ended. */
export type ProgramSandboxRun = {
  readonly hasNetwork: boolean;
  readonly canWrite: boolean;
  readonly ended: () => void;
};

/** Describes the limits of a run in the sandbox, to continue "It ran in the sandbox". */
export function describeSandboxRun({ hasNetwork, canWrite }: ProgramSandboxRun): string {
  const files = canWrite ? 'with only the workspace writable' : 'with a read-only workspace';
  return hasNetwork ? files : `without network and ${files}`;
}

/** Decides about a program before ouro starts it by itself. Every such start passes one, as a test enforces. */
export type ProgramCheck = (start: ProgramStart, use: ProgramUse) => Promise<ProgramCheckResult>;

/** Starts everything on the host: for programs that the host of the library chose in its own code. */
export const startUnchecked: ProgramCheck = async () => ({ ok: true, wrap: (argv) => argv });
