import type { ConfiguredMcpServer } from '../configured-mcp-server.ts';
import type { McpHubDeps } from './hub-deps.ts';
import { diffMcpTools } from './mcp-server-catalog.ts';
import {
  IDLE_MCP_SERVER,
  type McpServerEvent,
  type McpServerLifecycle,
  reduceMcpServerLifecycle,
} from './mcp-server-lifecycle.ts';

/** The state of a server, and the notices about it. */
export type McpStateMachine = {
  getState(): McpServerLifecycle;
  dispatch(event: McpServerEvent): void;
  /** Reports a message that follows the name of the server. */
  notify(level: 'info' | 'warn', message: string): void;
};

const BACKOFF_MS = 1_000;

/** Creates the state machine of a server; reports changes and calls `begin` with the delay of each start. */
export function createMcpStateMachine(
  { name }: ConfiguredMcpServer,
  { onChange, backoffMs = BACKOFF_MS }: McpHubDeps,
  begin: (afterMs: number) => void,
): McpStateMachine {
  let state = IDLE_MCP_SERVER;

  function notify(level: 'info' | 'warn', message: string): void {
    onChange({ kind: 'state', server: name, level, message: `MCP server ${name} ${message}` });
  }

  return {
    getState: () => state,
    dispatch(event) {
      const before = state;
      const transition = reduceMcpServerLifecycle(before, event, { name, backoffMs });
      state = transition.state;
      const changes = diffMcpTools(before.catalog.tools, state.catalog.tools);
      if (changes.added.length + changes.removed.length > 0) onChange({ kind: 'tools', server: name, ...changes });
      if (transition.notice !== undefined) notify(transition.notice.level, transition.notice.message);
      if (state.phase.status === 'starting' && state.phase !== before.phase) begin(state.phase.afterMs);
    },
    notify,
  };
}
