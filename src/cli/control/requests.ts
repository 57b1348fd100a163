import type { RunOptions } from '../../contracts/face/run-options.ts';
import type { JsonObject } from '../../contracts/json.ts';
import { messageOf } from '../../lib/errors.ts';
import { Unsupported } from './handler.ts';
import { HANDLERS } from './handlers/table.ts';
import { createHostServers } from './host-servers.ts';
import { initializeAnswer, unheardWishes, withInitialize } from './initialize.ts';
import type { ControlRequest } from './line-in.ts';
import type { Opening } from './opening.ts';
import type { Outbox } from './outbox.ts';

export type RequestsPort = {
  readonly outbox: Outbox;
  readonly write: (line: JsonObject) => void;
  readonly warn: (text: string) => void;
  readonly pid: number;
  /** Was the command line left without servers, because the first request brings them? */
  readonly opening: 'at once' | 'with the first request';
};

/** Answers the control requests of a host. */
export function createRequests(
  options: RunOptions,
  opening: Opening,
  { outbox, write, warn, pid, opening: begins }: RequestsPort,
) {
  const servers = createHostServers(outbox);
  /** The initialize request that the conversation was opened with. */
  let agreed: string | undefined;
  /** Why nothing may begin: a run without what was asked for would be another one. */
  let refusal: string | undefined;
  /** Work in the background goes on after an interrupt only where the host can stop each piece by itself. */
  let background: 'stopped' | 'spared' = 'stopped';

  function respond(id: string, response: JsonObject): void {
    write({ type: 'control_response', response: { subtype: 'success', request_id: id, response } });
  }

  function refuse(id: string, error: string): void {
    write({ type: 'control_response', response: { subtype: 'error', request_id: id, error } });
  }

  async function initialize(request: JsonObject): Promise<JsonObject> {
    const wish = JSON.stringify(request);
    if (opening.hasBegun()) {
      // Said twice by a host that has lost its place. Anything new would be agreed to and not be done.
      if (agreed !== wish) throw new Error('The conversation is open already: initialize comes first.');
      return initializeAnswer((await opening.opened(options)).conversation, request, pid);
    }
    const wanted = withInitialize(options, request, outbox, servers);
    refusal = undefined;
    agreed = wish;
    const unheard = unheardWishes(request);
    if (unheard !== undefined) warn(unheard);
    if (request.perTaskStopAffordance === true) background = 'spared';
    const { conversation } = await opening.opened(wanted);
    if (typeof request.title === 'string' && request.title.trim() !== '') await conversation.rename(request.title);
    const taken = begins === 'with the first request' && request.mcpServers !== undefined;
    return { ...(await initializeAnswer(conversation, request, pid)), ...(taken ? { mcp_servers_applied: true } : {}) };
  }

  async function handled(request: ControlRequest['request']): Promise<JsonObject> {
    const handle = HANDLERS.get(request.subtype);
    if (handle === undefined) throw new Unsupported(request.subtype);
    const { conversation, run } = await opening.opened(options);
    return handle(request, { conversation, servers, ids: run.ids });
  }

  return {
    respond,
    refuse,
    refusal: () => refusal,
    async answer({ request_id: id, request }: ControlRequest): Promise<void> {
      const { subtype } = request;
      try {
        respond(id, subtype === 'initialize' ? await initialize(request) : await handled(request));
      } catch (thrown) {
        if (subtype === 'initialize' && !opening.hasBegun()) refusal = `initialize was refused: ${messageOf(thrown)}`;
        refuse(id, thrown instanceof Unsupported ? `unsupported: ${subtype}` : messageOf(thrown));
      }
    },
    /** Stops the run; one that is only about to start is stopped `inTurn`, once it has. */
    interrupt({ request_id: id, request }: ControlRequest, inTurn: (act: () => void) => void): void {
      const stop = () => {
        const waiting = request.cancel_queued === true ? 'dropped' : 'kept';
        const run = opening.run();
        if (run === undefined) respond(id, { still_queued: [] });
        else run.interrupt({ waiting, background }, (receipt) => respond(id, receipt));
      };
      if (opening.run()?.isRunning() === true) {
        stop();
        return;
      }
      // A command may be making room between two runs, and what is behind it waits for its end.
      opening.run()?.stopCommand();
      inTurn(stop);
    },
  };
}
