import type { CliRunOptions } from '../../../contracts/frontend/cli-run-options.ts';
import type { JsonObject } from '../../../contracts/json.ts';
import { getErrorMessage } from '../../../lib/errors.ts';
import { type ControlHandler, UnsupportedRequest } from './control-handler.ts';
import type { ControlRequestSender } from './control-request-sender.ts';
import { mcpControlHandlers } from './handlers/mcp.ts';
import { modelControlHandlers, sessionControlHandlers } from './handlers/session.ts';
import { usageControlHandlers } from './handlers/usage.ts';
import { createHostMcpServers } from './host-mcp-servers.ts';
import { applyInitialize, createInitializeResponse, describeUnknownFields } from './initialize.ts';
import type { ControlRequest } from './input-lines.ts';
import type { LazyConversation } from './lazy-conversation.ts';

/** The connection to the host that control requests are answered on. */
export type ControlDispatcherDeps = {
  readonly outgoing: ControlRequestSender;
  readonly write: (line: JsonObject) => void;
  readonly warn: (text: string) => void;
  readonly pid: number;
  /** The initialize request brings the MCP servers, not the command line. */
  readonly awaitsInitialize: boolean;
};

/** Creates the handler of control requests from a host. */
export function createControlDispatcher(
  options: CliRunOptions,
  lazyConversation: LazyConversation,
  { outgoing, write, warn, pid, awaitsInitialize }: ControlDispatcherDeps,
) {
  const servers = createHostMcpServers(outgoing);
  /** The initialize request the conversation was opened with. */
  let acceptedRequest: string | undefined;
  /** Set after a failed initialize request: a run without the requested options would be a different run. */
  let refusal: string | undefined;
  /** Background tasks survive an interrupt only when the host can stop each of them itself. */
  let background: 'stop' | 'keep' = 'stop';

  function respond(id: string, response: JsonObject): void {
    write({ type: 'control_response', response: { subtype: 'success', request_id: id, response } });
  }

  function respondError(id: string, error: string): void {
    write({ type: 'control_response', response: { subtype: 'error', request_id: id, error } });
  }

  async function initialize(request: JsonObject): Promise<JsonObject> {
    const serialized = JSON.stringify(request);
    if (lazyConversation.isStarted()) {
      // A host may repeat the same request. A different one cannot take effect any more.
      if (acceptedRequest !== serialized)
        throw new Error('The conversation is already open: initialize must come first.');
      return createInitializeResponse((await lazyConversation.open(options)).conversation, request, pid);
    }
    const newOptions = applyInitialize(options, request, outgoing, servers);
    refusal = undefined;
    acceptedRequest = serialized;
    const warning = describeUnknownFields(request);
    if (warning !== undefined) warn(warning);
    if (request.perTaskStopAffordance === true) background = 'keep';
    const { conversation } = await lazyConversation.open(newOptions);
    if (typeof request.title === 'string' && request.title.trim() !== '') await conversation.rename(request.title);
    const response = await createInitializeResponse(conversation, request, pid);
    const hasAppliedServers = awaitsInitialize && request.mcpServers !== undefined;
    return { ...response, ...(hasAppliedServers ? { mcp_servers_applied: true } : {}) };
  }

  async function runHandler(request: ControlRequest['request']): Promise<JsonObject> {
    const handler = CONTROL_REQUEST_HANDLERS.get(request.subtype);
    if (handler === undefined) throw new UnsupportedRequest(request.subtype);
    const { conversation, hostConversation } = await lazyConversation.open(options);
    return handler(request, { conversation, servers, ids: hostConversation.ids });
  }

  return {
    respondError,
    /** Returns the error of a failed initialize request, which no user message may ignore. */
    refusal: () => refusal,
    async handle({ request_id: id, request }: ControlRequest): Promise<void> {
      const { subtype } = request;
      try {
        respond(id, subtype === 'initialize' ? await initialize(request) : await runHandler(request));
      } catch (thrown) {
        if (subtype === 'initialize' && !lazyConversation.isStarted())
          refusal = `initialize failed: ${getErrorMessage(thrown)}`;
        respondError(id, thrown instanceof UnsupportedRequest ? `unsupported: ${subtype}` : getErrorMessage(thrown));
      }
    },
    /** Stops the run. A run that is about to start is stopped after it has started, through `enqueue`. */
    interrupt({ request_id: id, request }: ControlRequest, enqueue: (action: () => void) => void): void {
      const stop = () => {
        const queue = request.cancel_queued === true ? 'clear' : 'keep';
        const hostConversation = lazyConversation.getHostConversation();
        if (hostConversation === undefined) respond(id, { still_queued: [] });
        else hostConversation.interrupt({ queue, background }, (receipt) => respond(id, receipt));
      };
      if (lazyConversation.getHostConversation()?.isRunning() === true) {
        stop();
        return;
      }
      // A slash command such as /compact may run between two runs; queued lines wait for its end.
      lazyConversation.getHostConversation()?.stopCommand();
      enqueue(stop);
    },
  };
}

/**
 * The handlers of all requests a host may make in an open conversation; any other request is unsupported.
 *
 * @internal Exported for tests.
 */
export const CONTROL_REQUEST_HANDLERS: ReadonlyMap<string, ControlHandler> = new Map(
  Object.entries({
    ...modelControlHandlers,
    ...usageControlHandlers,
    ...mcpControlHandlers,
    ...sessionControlHandlers,
  }),
);
