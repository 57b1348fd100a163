import type { TurnLog } from '../context/report/turn-log.ts';
import type { Agent } from '../contracts/agent.ts';
import type { IdeIntegration } from '../ide/ide-integration.ts';
import type { ProgramCheck } from '../lib/processes/program-check.ts';
import type { SessionLanguageServers } from '../lsp/session-language-servers.ts';
import type { McpServers } from '../mcp/session-servers.ts';
import type { Session } from '../session/session.ts';
import type { SessionCheckpoints } from '../session/session-checkpoints.ts';
import type { ShellRegistry } from '../tools/bash/shell-registry.ts';
import type { ConversationActions } from './conversation-actions.ts';
import type { Core } from './core.ts';
import type { AgentLoopParts } from './loop/agent-loop-parts.ts';
import type { AutoContinue } from './loop/auto-continue.ts';
import type { SessionPermissions } from './permissions/session-permissions.ts';
import type { SessionHooks } from './session-hooks.ts';
import type { TrustDialog } from './trust/manage-folder-trust.ts';

/** The parts of a conversation, for commands, hosts and frontends. */
export type ConversationParts = {
  readonly core: Core;
  readonly agent: Agent;
  readonly session: Session;
  readonly permissions: SessionPermissions;
  /** Absent if the session is not stored. */
  readonly checkpoints: SessionCheckpoints | undefined;
  readonly mcp: McpServers;
  readonly editor: IdeIntegration;
  readonly languages: SessionLanguageServers;
  readonly hooks: SessionHooks;
  readonly loop: AgentLoopParts;
  readonly shells: ShellRegistry;
  readonly turnLog: TurnLog;
  readonly autoContinue: AutoContinue;
  readonly actions: ConversationActions;
  readonly trustCommands: TrustDialog;
  readonly checkProgram: ProgramCheck;
};
