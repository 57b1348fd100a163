import type { Display, ScriptStart } from './display.ts';
import type { JsonObject } from './json.ts';
import type { BlockedEffect, CallEnforcement, SandboxPaths } from './sandbox.ts';
import type { ShellAnalysis } from './shell-analysis.ts';

/** The permission modes. */
export const PERMISSION_MODES = ['default', 'acceptEdits', 'plan', 'auto', 'dontAsk', 'bypassPermissions'] as const;
/** The permission mode, which decides which calls run without asking. */
export type PermissionMode = (typeof PERMISSION_MODES)[number];

/** Returns whether a text names a permission mode. */
export function isPermissionMode(text: string): text is PermissionMode {
  return PERMISSION_MODES.some((mode) => mode === text);
}

/** The effect of a rule on matching calls. */
export type RuleBehavior = 'allow' | 'ask' | 'deny';

/** The source of a rule: a settings file, or the session. The lists of all sources are combined. */
export type RuleSource = SettingsSource | 'session';

/** The source of a setting, strongest first. */
export type SettingsSource = 'managed' | 'flag' | 'local' | 'project' | 'user';

/** A permission rule with its source. */
export type Rule = {
  readonly text: string;
  readonly tool: string;
  /** Text between the parentheses; absent for a rule about the whole tool. */
  readonly specifier?: string;
  readonly behavior: RuleBehavior;
  readonly source: RuleSource;
  readonly file?: string;
  readonly line?: number;
  /** Folder that `/path` in the rule is relative to: that of its settings file. */
  readonly root?: string;
  /** Parse error. A malformed deny rule makes its tool ask. */
  readonly problem?: string;
};

/** The inputs of a permission decision, besides the call and the file system. */
export type Policy = SandboxPolicy & {
  readonly mode: PermissionMode;
  readonly rules: readonly Rule[];
  /** Folders whose files may be read and, in some modes, edited. */
  readonly workspaceRoots: readonly string[];
  readonly cwd: string;
  readonly home: string;
  readonly trusted: boolean;
  /** Bypass mode was requested by a flag, user or managed settings, and confirmed. */
  readonly canBypass: boolean;
  /** Folders and files of ouro (settings, key store). Writing there always asks. */
  readonly protectedPaths: readonly string[];
  /** Notes folder of a sub-agent. Its Markdown files are not protected; rules decide about them. */
  readonly notesFolder?: string;
  /** Files that are never read without asking, in addition to the well-known ones. */
  readonly sensitivePaths: readonly string[];
  /** Files that commands of this session filled from secret files. */
  readonly taintedPaths?: readonly string[];
  /** Returns whether this session created the file or folder; acceptEdits mode lets it delete that again. */
  readonly isCreatedHere?: (path: string) => boolean;
  /** Programs of the project that ouro starts, approved by their content: acceptEdits mode asks before it edits one. */
  readonly frozenPaths?: readonly string[];
  /** Entries of PATH. Entries inside the workspace are not trusted for programs such as `ls`. */
  readonly searchPath: readonly string[];
  readonly disk: 'case-sensitive' | 'case-insensitive';
};

/** The sandboxes that commands can run in. */
export type SandboxPolicy = {
  /** Commands run in a sandbox. `unasked`: commands that stay inside run without asking. */
  readonly sandbox?: 'asked' | 'unasked';
  /** Paths that the sandbox lets every command write, and paths it never lets any command write. Real paths. */
  readonly sandboxPaths?: () => SandboxPaths;
  /** Folder that is another one in the sandbox of commands, which nobody else looks into. */
  readonly privateFolder?: string | undefined;
  /** Returns whether there is a read-only sandbox for commands that only read. The first call probes the machine. */
  readonly canEnforceReadOnly?: () => boolean;
};

/** The kind of a tool, by what its calls touch. */
export type ToolKind = 'read' | 'edit' | 'shell' | 'fetch' | 'mcp' | 'agent' | 'skill' | 'session' | 'other';

/** The effects of a call, as stated by its tool. They grant nothing. */
export type ToolFacts = {
  readonly tool: string;
  readonly input: JsonObject;
  readonly kind: ToolKind;
  readonly reads?: readonly string[];
  /** Folders that are searched recursively. */
  readonly searches?: readonly string[];
  readonly writes?: readonly string[];
  readonly command?: string;
  /** Analysis of the command, added by the gate. It is not part of events. */
  readonly shell?: ShellAnalysis;
  /** Reason why the command has to run outside the sandbox. */
  readonly outside?: string;
  /** Effects that the read-only sandbox blocked in a first run of the command. */
  readonly blocked?: readonly BlockedEffect[];
  /** Protected paths that the sandbox should make writable for this command, which stays inside. */
  readonly opens?: readonly string[];
  readonly url?: string;
  /** Text that a rule's specifier is compared with, for tools without a grammar of their own (Task, Skill). */
  readonly specifier?: string;
  /** The input is incomplete, so the effects are unknown. */
  readonly problem?: string;
};

/** The facts that a tool states about one call; name and input are known to the caller. */
export type DeclaredFacts = Omit<ToolFacts, 'tool' | 'input'>;

/** The traits of a tool about itself, for permissions and for the handling of its results. It grants nothing. */
export type ToolTraits = {
  readonly name: string;
  /** Former names, which rules and models may still use. */
  readonly aliases?: readonly string[];
  /** States the effects of a call with unvalidated input. Without it, a call may have any effect. */
  readonly facts?: (input: JsonObject, cwd: string) => DeclaredFacts;
  /** Input key that a single text is assigned to, as in `ouro permissions explain Read x`. */
  readonly mainInput?: string;
  /**
   * Repeatability of an excluded result. `repeatable`: the same call returns the same or a newer result;
   * `once`: it cannot be produced again. Absent: the call has side effects.
   */
  readonly result?: 'repeatable' | 'once';
  /** Sub-agents that get the tool: none, or only those that can start sub-agents themselves. Absent: all. */
  readonly subAgents?: 'none' | 'parents';
  /** The tool is served to other programs, with this kind of effect. */
  readonly served?: 'reads' | 'changes' | 'runs';
  /** Lists the calls of other tools that a call consists of, for hooks about those tools. */
  readonly listParts?: (input: JsonObject) => readonly { readonly tool: string; readonly input: JsonObject }[];
};

/** Finds the traits of a tool by its name or a former name. */
export type ToolTraitsLookup = (name: string) => ToolTraits | undefined;

/** The stage of a permission decision. */
export type DecisionStage =
  | 'facts'
  | 'deny'
  | 'breaker'
  | 'ask'
  | 'mode'
  | 'allow'
  | 'default'
  | 'hook'
  | 'judge'
  | 'answer';

/** One step on the way to a verdict. */
export type TraceStep = {
  readonly stage: DecisionStage;
  readonly verdict?: RuleBehavior;
  /** Sub-command, path or URL of this step. */
  readonly subject?: string;
  readonly rule?: Rule;
  readonly mode?: PermissionMode;
  readonly reason?: StepReason;
  readonly text: string;
};

/** A rule that would allow the call in future, or a part of it. */
export type RuleSuggestion = {
  readonly rule: string;
  readonly covers: string;
  /** The file access that the rule allows. */
  readonly access?: { readonly use: 'read' | 'write'; readonly path: string };
  /** Programs of the command that no rule can cover, so they ask every time. */
  readonly uncovered?: readonly string[];
};

/** The reason of a step in a form that frontends word themselves. */
export type StepReason =
  /** The program, or an option of it, is not in the table of read-only commands; no rule allows the tool or host. */
  | { readonly code: 'not_read_only' | 'no_rule' }
  | { readonly code: 'writes_workspace' | 'outside_workspace'; readonly path: string };

/**
 * A protection for a command that runs without asking: no git helpers, no workspace programs, no variables of the
 * project's settings, no secrets in searches.
 */
export type CommandHardening = 'helpers' | 'path' | 'variables' | 'search';

/** A path that leads through a link, with its real path. */
export type ResolvedLink = { readonly path: string; readonly real: string };

/** The permission decision about a call, with its reasons. */
export type Decision = {
  readonly verdict: RuleBehavior;
  readonly reasons: readonly string[];
  readonly matched: readonly Rule[];
  readonly trace: readonly TraceStep[];
  readonly unanalysed?: readonly string[];
  /** The parts of a command line that is not allowed as a whole, if some of them would run alone. */
  readonly parts?: { readonly refused: readonly string[]; readonly allowed: readonly string[] };
  /** Auto mode may let the small model answer this question. */
  readonly mayBeJudged?: true;
  readonly suggestions: readonly RuleSuggestion[];
  readonly targets: readonly ResolvedLink[];
  /** Protections that the environment of the command needs because the user was not asked. */
  readonly hardens: readonly CommandHardening[];
  /** Limits in which the command has to run; absent if the user, a rule or the mode allowed more than reading. */
  readonly enforce?: CallEnforcement;
  /** Secret files that the call reads, as far as known. Real paths. */
  readonly secrets?: readonly string[];
  /** Files that the command may fill from secret files. */
  readonly copies?: readonly string[];
  /** Files that the call would write, as far as known. Real paths. */
  readonly writes?: readonly string[];
  /** Those of them that are missing now, and that the call does not move there. */
  readonly creates?: readonly string[];
  /** Paths that the sandbox makes writable for this call only. Real paths. */
  readonly opens?: readonly string[];
};

/** A risk of a call that is shown in the permission prompt: "deletes build/", "uses the network". */
export type CallRisk = {
  readonly kind:
    | 'reads_secret'
    | 'deletes'
    | 'discards'
    | 'publishes'
    | 'sends'
    | 'runs_download'
    | 'runs_project'
    | 'network';
  readonly text: string;
  /** The files, branches or hosts concerned, as written in the call; absent if they are unknown. */
  readonly targets?: readonly string[];
};

/** How long an answer may be remembered. */
export type RememberScope = 'never' | 'session' | 'always';

/** A permission prompt. Its strings are unsanitized; the screen sanitizes them. */
export type PermissionRequest = {
  readonly id: string;
  readonly callId: string;
  readonly toolName: string;
  readonly title: string;
  readonly description?: string;
  readonly facts: ToolFacts;
  readonly reasons: readonly string[];
  readonly targets: readonly ResolvedLink[];
  readonly suggestions: readonly RuleSuggestion[];
  readonly trace: readonly TraceStep[];
  /** `breaker`: a circuit breaker asks, so the answer cannot be remembered. */
  readonly danger: 'breaker' | 'none';
  /** The text contains invisible or misleading characters. */
  readonly concealed: 'hidden_characters' | 'lookalike_letters' | 'none';
  readonly agentId?: string;
  /** Risks of the call, the gravest first. */
  readonly risks?: readonly CallRisk[];
  /**
   * How long a yes to the whole call may be remembered; `always` if absent. For `session`, `exact` is stored for the
   * session at most, and `suggestions` only cover the other parts of a command line. `never`: nothing is offered.
   */
  readonly canRemember?: RememberScope;
  /** Rule for exactly this call, and how long it may be stored; absent if no rule would allow it. */
  readonly exact?: { readonly rule: string; readonly keep: 'session' | 'always' };
  /** Short reason why no wider rule is offered. */
  readonly narrow?: string;
  /** Narrower alternatives to the suggestions: rules that allow the access for these programs only. */
  readonly ofPrograms?: { readonly names: readonly string[]; readonly rules: readonly string[] };
  /** Preview of the change: the diff of an edit, or of what a command did in a throw-away layer. */
  readonly preview?: Display;
  /** The last lines that the command printed in that layer. */
  readonly printed?: readonly string[];
  /** The scripts that a command names, with how they begin. */
  readonly scripts?: readonly ScriptStart[];
  /** The answer may turn on the sandbox of commands, in which the gate would allow this one. */
  readonly canSandbox?: true;
};

/** The settings in which an answer is remembered. */
export type RememberDestination = 'session' | 'local' | 'project' | 'user';

/** The answer to a permission prompt. */
export type PermissionAnswer =
  | {
      readonly behavior: 'allow';
      readonly updatedInput?: JsonObject;
      /** Note for the model about a change of its input. */
      readonly note?: string;
      readonly remember?: { readonly rules: readonly string[]; readonly destination: RememberDestination };
      readonly mode?: PermissionMode;
      /** Runs commands in the sandbox for this session, this one included, without questions about what stays inside. */
      readonly sandbox?: 'auto';
    }
  | {
      readonly behavior: 'deny';
      /** The words of whoever refused the call. */
      readonly message?: string;
      /** Facts about the refusal for the model, in sentences: what the user looked at, why nothing was asked. */
      readonly note?: string;
      readonly interrupt?: boolean;
      /** Source of the refusal, the user by default. `unattended`: the request could not be put to anyone. */
      readonly by?: 'user' | 'host' | 'hook' | 'unattended';
    };
