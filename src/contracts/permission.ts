import type { Display } from './display.ts';
import type { JsonObject } from './json.ts';

/** How much happens without a question. */
export const MODES = ['default', 'acceptEdits', 'plan', 'auto', 'dontAsk', 'bypassPermissions'] as const;
/** How much happens without a question. */
export type PermissionMode = (typeof MODES)[number];

export function isMode(text: string): text is PermissionMode {
  return MODES.some((mode) => mode === text);
}

/** What a rule says of the calls it is about. */
export type RuleBehavior = 'allow' | 'ask' | 'deny';

/** Where a rule was written, the strongest first. Lists of all sources are united. */
export type RuleSource = 'managed' | 'flag' | 'session' | 'user' | 'local' | 'project';

/** One line of a permission list, with the place it came from. */
export type Rule = {
  readonly text: string;
  readonly tool: string;
  /** The words between the parentheses; absent when the rule is about the whole tool. */
  readonly specifier?: string;
  readonly behavior: RuleBehavior;
  readonly source: RuleSource;
  readonly file?: string;
  readonly line?: number;
  /** What `/path` in the rule starts from: the folder its settings file belongs to. */
  readonly root?: string;
  /** Why the text could not be understood. A malformed deny makes its tool ask. */
  readonly problem?: string;
};

/** Everything a decision depends on besides the call and the disk. */
export type Policy = {
  readonly mode: PermissionMode;
  readonly rules: readonly Rule[];
  /** Folders whose contents may be read and, in some modes, changed. */
  readonly workspaceRoots: readonly string[];
  readonly cwd: string;
  readonly home: string;
  readonly trusted: boolean;
  /** Bypass was asked for by a flag, the user or managed settings, and confirmed. */
  readonly canBypass: boolean;
  /** Folders and files that are ours (settings, key store); writing there always asks. */
  readonly protectedPaths: readonly string[];
  /** Where a sub-agent keeps Markdown notes: in it none of them is protected, rules decide. */
  readonly notesFolder?: string;
  /** Files that are never read unasked, beside the well-known ones (our key store). */
  readonly sensitivePaths: readonly string[];
  /** Files that commands of this session have filled from such ones. */
  readonly copiedSecrets?: readonly string[];
  /** The entries of PATH; those inside the workspace are not trusted to hold `ls`. */
  readonly searchPath: readonly string[];
  readonly disk: 'case-sensitive' | 'case-insensitive';
  /** Commands run in a sandbox; `unasked`: those that stay inside need nobody's yes. */
  readonly sandbox?: 'asked' | 'unasked';
  /** Of the sandbox: what may be written there by every command, and what stays closed to each. Real paths. */
  readonly sandboxPlaces?: () => SandboxPlaces;
};

/** Places of the disk as a sandbox treats them. */
export type SandboxPlaces = { readonly open: readonly string[]; readonly closed: readonly string[] };

export type ToolKind = 'read' | 'edit' | 'shell' | 'fetch' | 'mcp' | 'agent' | 'skill' | 'session' | 'other';

/** What a call would touch, as told by its tool. Nothing here grants anything. */
export type ToolFacts = {
  readonly tool: string;
  readonly input: JsonObject;
  readonly kind: ToolKind;
  readonly reads?: readonly string[];
  /** Folders that are searched to the bottom. */
  readonly searches?: readonly string[];
  readonly writes?: readonly string[];
  readonly command?: string;
  /** What the command needs that a sandbox would keep from it: it is to run outside. */
  readonly outside?: string;
  /** Places it needs to write that a sandbox keeps as they are: they are to be opened to it, and it stays inside. */
  readonly opens?: readonly string[];
  readonly url?: string;
  /** What a rule's specifier is compared with, for tools without a grammar of their own (Task, Skill). */
  readonly specifier?: string;
  /** The input lacks what its tool needs, so nothing can be said. */
  readonly problem?: string;
};

/** What a tool says of one call; its name and the input are known anyway. */
export type StatedFacts = Omit<ToolFacts, 'tool' | 'input'>;

/** What a tool says of itself to those who decide about its calls and keep their results. Nothing here grants anything. */
export type ToolStatement = {
  readonly name: string;
  /** Names it had before; rules and models may still use them. */
  readonly aliases?: readonly string[];
  /** What a call would touch, read from input that nobody has checked. A tool that says nothing touches anything. */
  readonly facts?: (input: JsonObject, cwd: string) => StatedFacts;
  /** The key of its input that a single text stands for, as in `ouro permissions explain Read x`. */
  readonly mainInput?: string;
  /**
   * Whether a result that is left out can be had again: `repeatable`, the same call gives the same or a newer answer;
   * `once`, nobody can ask for it again. Absent: the call has taken effect.
   */
  readonly result?: 'repeatable' | 'once';
  /** Sub-agents that have it: none, or only those that may have sub-agents of their own. Absent: all. */
  readonly subAgents?: 'none' | 'parents';
  /** Another program may call it without a conversation with us, and is told what kind of call that is. */
  readonly served?: 'reads' | 'changes' | 'runs';
};

/** What the tool of a name, or of one it had before, says of itself. */
export type ToolLookup = (name: string) => ToolStatement | undefined;

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

/** One thing that was looked at on the way to a verdict. */
export type TraceStep = {
  readonly stage: DecisionStage;
  readonly verdict?: RuleBehavior;
  /** The sub-command, path or address this is about. */
  readonly subject?: string;
  readonly rule?: Rule;
  readonly mode?: PermissionMode;
  readonly text: string;
};

/** A rule that would answer the same question for ever, or the part of it that it covers. */
export type RuleSuggestion = {
  readonly rule: string;
  readonly covers: string;
  /** The parts of the command line that no rule can be offered for, so that they ask every time: "the rm part". */
  readonly leaves?: string;
};

/** `helpers`: those of git are off. `path`: no program is found inside the workspace. `search`: searches leave secrets out. */
export type Hardening = 'helpers' | 'path' | 'search';

/** A path whose real place is not where its name says. */
export type RealTarget = { readonly path: string; readonly real: string };

/** What becomes of a call, why, and what it went by. */
export type Decision = {
  readonly verdict: RuleBehavior;
  readonly reasons: readonly string[];
  readonly matched: readonly Rule[];
  readonly trace: readonly TraceStep[];
  readonly unanalysed?: readonly string[];
  /** A question that mode auto may have answered by the small model. */
  readonly mayBeJudged?: true;
  readonly suggestions: readonly RuleSuggestion[];
  readonly targets: readonly RealTarget[];
  /** What an environment has to guard because nobody was asked: git with `harden-git.ts`, the programs it finds. */
  readonly hardens: readonly Hardening[];
  /** Files that it may fill from files of secrets. */
  readonly copies?: readonly string[];
  /** Files that it would write, as far as that is known. Real paths. */
  readonly writes?: readonly string[];
  /** Places that the sandbox opens to this call alone, once it may run. Real paths. */
  readonly opens?: readonly string[];
};

/** Something a call would do that whoever is asked wants to know: "deletes build/", "uses the network". */
export type CallRisk = {
  readonly kind: 'deletes' | 'publishes' | 'runs_download' | 'runs_project' | 'network';
  readonly text: string;
};

/** What a prompt shows. Strings are as given; the screen sanitises them. */
export type PermissionRequest = {
  readonly id: string;
  readonly callId: string;
  readonly toolName: string;
  readonly title: string;
  readonly description?: string;
  readonly facts: ToolFacts;
  readonly reasons: readonly string[];
  readonly targets: readonly RealTarget[];
  readonly suggestions: readonly RuleSuggestion[];
  readonly trace: readonly TraceStep[];
  /** A circuit breaker asked: this cannot be remembered. */
  readonly danger: 'breaker' | 'none';
  /** The text holds characters that do not show, or that show as something else. */
  readonly concealed: 'hidden_characters' | 'none';
  readonly agentId?: string;
  /** What is at stake, in words, the gravest first. */
  readonly risks?: readonly CallRisk[];
  /** The rule for exactly this call, and how long it may be kept; absent where even that would not allow it. */
  readonly exact?: { readonly rule: string; readonly keep: 'session' | 'always' };
  /** Why no rule wider than that is offered, in few words. */
  readonly narrow?: string;
  /** Narrower rules than those suggested: what is asked for is opened to these programs alone. */
  readonly ofPrograms?: { readonly names: readonly string[]; readonly rules: readonly string[] };
  /** What the call would change, worked out before it runs: the diff of an edit. */
  readonly preview?: Display;
};

export type RememberDestination = 'session' | 'local' | 'project' | 'user';

/** What is said to a question whether a call may run. */
export type PermissionAnswer =
  | {
      readonly behavior: 'allow';
      readonly updatedInput?: JsonObject;
      /** What the model is told of the change that was made to its input. */
      readonly note?: string;
      readonly remember?: { readonly rules: readonly string[]; readonly destination: RememberDestination };
      readonly mode?: PermissionMode;
    }
  | { readonly behavior: 'deny'; readonly message?: string; readonly interrupt?: boolean };
