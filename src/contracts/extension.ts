import type { Effort } from './model.ts';
import type { PermissionMode } from './permission.ts';

/** Where an extension comes from; the project's own wins over the user's. */
export type ExtensionSource = 'builtin' | 'user' | 'project' | 'flag' | 'host';

/** A slash command from a file. */
export type CustomCommand = {
  readonly name: string;
  readonly path: string;
  readonly source: ExtensionSource;
  readonly description: string;
  readonly argumentHint?: string;
  readonly allowedTools: readonly string[];
  readonly model?: string;
  readonly body: string;
};

/** A skill: its name and description are in the prompt, its text on demand. */
export type Skill = {
  readonly name: string;
  readonly description: string;
  readonly folder: string;
  readonly path: string;
  readonly source: ExtensionSource;
  readonly allowedTools: readonly string[];
  readonly paths: readonly string[];
  readonly body: string;
};

/** A kind of sub-agent. */
export type AgentKind = {
  readonly name: string;
  readonly description: string;
  readonly prompt: string;
  readonly source: ExtensionSource;
  /** The file it stands in. */
  readonly path?: string;
  /** Absent: all tools of the parent. */
  readonly tools?: readonly string[];
  readonly disallowedTools: readonly string[];
  readonly model?: string;
  readonly permissionMode?: PermissionMode;
  readonly maxTurns?: number;
  readonly effort?: Effort;
  /** `worktree`: it works in a checkout of its own, on a branch of its own. */
  readonly isolation?: 'worktree';
  /** Nobody waits for it, whoever starts it. */
  readonly background?: true;
  /** Skills it knows by heart from its first request on. */
  readonly skills?: readonly string[];
  /** Where it keeps notes from one run to the next. */
  readonly memory?: MemoryScope;
  /** Servers that are configured already and whose tools it has besides `tools`. */
  readonly mcpServers?: readonly string[];
  /** The colour people know it by. */
  readonly color?: string;
};

export type MemoryScope = 'user' | 'project' | 'local';

export type OutputStyle = {
  readonly name: string;
  readonly description: string;
  readonly text: string;
  readonly source: ExtensionSource;
};

/** A sentence about a file that could not be used as it stands. */
export type ExtensionProblem = { readonly path: string; readonly line?: number; readonly text: string };

export type Loaded<Item> = { readonly items: readonly Item[]; readonly problems: readonly ExtensionProblem[] };
