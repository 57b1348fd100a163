import type { Summarize } from '../context/compact.ts';
import type { Agent } from '../contracts/agent.ts';
import type { ContextUsage, Conversation, RewindOutcome } from '../contracts/conversation.ts';
import type { AgentEvent } from '../contracts/event.ts';
import type { JsonObject } from '../contracts/json.ts';
import type { RunOptions } from '../contracts/run-options.ts';
import type { LoadedSettings } from '../contracts/settings.ts';
import type { Hooks } from '../hooks/create-hooks.ts';
import type { PortChoice } from '../model/choose-port.ts';
import type { Transcript } from '../session/transcript.ts';
import type { Environment } from './environment.ts';
import type { Forked } from './fork-session.ts';
import type { GatedOutcome } from './gated-calls.ts';
import type { KeptSession } from './keep-session.ts';
import type { LiveFiles } from './live-files.ts';
import type { LiveState } from './live-state.ts';
import type { Extensions } from './load-extensions.ts';
import type { ManualCompact } from './manual-compact.ts';
import type { StartedRun } from './start-run.ts';
import type { UsageMeter } from './usage-meter.ts';
import type { WiredCheckpoints } from './wire-checkpoints.ts';
import type { LoopParts } from './wire-loop.ts';
import type { WiredMcp } from './wire-mcp.ts';
import type { Permissions } from './wire-permissions.ts';

/** What the composition root hands over. */
export type ConversationBase = {
  readonly agent: Agent;
  readonly live: LiveState;
  readonly meter: UsageMeter;
  readonly transcript: Transcript;
  readonly choice: Extract<PortChoice, { ok: true }>;
  readonly loop: LoopParts;
  readonly hooks: Hooks;
  readonly warnings: readonly string[];
  readonly environment: Environment;
  readonly options: RunOptions;
  readonly cwd: string;
  readonly trusted: boolean;
  readonly loaded: () => LoadedSettings;
  readonly extensions: () => Extensions;
  readonly branch: string | undefined;
  readonly permissions: Permissions;
  readonly skipPermissions: 'may bypass' | 'may not bypass';
  readonly tell: (event: AgentEvent) => Promise<void>;
  readonly callGated: (name: string, input: JsonObject) => Promise<GatedOutcome>;
  readonly gatedShell: (command: string, allowed: readonly string[]) => Promise<string>;
  readonly gatedFile: (path: string) => Promise<string>;
  readonly fork: () => Promise<Forked>;
  readonly started: StartedRun;
  readonly kept: Pick<KeptSession, 'draft' | 'history'>;
  readonly checkpoints: WiredCheckpoints | undefined;
  readonly files: LiveFiles;
  readonly mcp: WiredMcp;
  readonly examine: () => Promise<string>;
  readonly newId: () => string;
};

/** The same with what is made from it: this is what commands see. */
export type ConversationParts = ConversationBase & {
  readonly compact: ManualCompact;
  readonly contextUsage: () => Promise<ContextUsage>;
  readonly setModel: Conversation['setModel'];
  readonly setEffort: Conversation['setEffort'];
  readonly undo: () => Promise<RewindOutcome>;
  readonly redo: () => Promise<RewindOutcome>;
  readonly askAside: (question: string) => ReturnType<Summarize>;
};
