import type { Agent } from '../../contracts/agent.ts';
import type { Shells } from '../../tools/bash/shells.ts';
import type { Core } from '../core.ts';
import type { SessionHooks } from '../loop/hooks/session-hooks.ts';
import type { Loop } from '../loop/loop.ts';
import type { TurnLog } from '../loop/turn-log.ts';
import type { Wake } from '../loop/wake.ts';
import type { McpServers } from '../mcp/servers.ts';
import type { Permissions } from '../permissions/permissions.ts';
import type { SessionCheckpoints } from '../session/checkpoints.ts';
import type { SessionLanguages } from '../session/languages.ts';
import type { Session } from '../session/session.ts';
import type { TrustTalk } from '../settings/trust-commands.ts';
import type { Actions } from './actions.ts';

/** What a conversation is made of, as commands, hosts and faces reach it. */
export type ConversationParts = {
  readonly core: Core;
  readonly agent: Agent;
  readonly session: Session;
  readonly permissions: Permissions;
  /** Absent where nothing is kept. */
  readonly checkpoints: SessionCheckpoints | undefined;
  readonly mcp: McpServers;
  readonly languages: SessionLanguages;
  readonly hooks: SessionHooks;
  readonly loop: Loop;
  readonly shells: Shells;
  readonly turnLog: TurnLog;
  readonly wake: Wake;
  readonly actions: Actions;
  readonly trustTalk: TrustTalk;
};
