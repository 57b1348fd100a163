import { McpError, UrlElicitationRequiredError } from '@modelcontextprotocol/sdk/types.js';
import type { JsonObject } from '../../contracts/json.ts';
import { type CallContext, ToolFailure, type ToolOutcome } from '../../contracts/tool.ts';
import { messageOf } from '../../lib/errors.ts';
import { untrustedLine } from '../../lib/text/sanitize.ts';
import { type KeepBytes, outcomeOf } from '../content.ts';
import { elicit } from '../elicit.ts';
import { isUnauthorized } from '../login/stored-auth.ts';
import { type Connection, ServerSilent } from './connection.ts';

/** What a call needs to know about its server. */
export type CallSite = {
  readonly server: string;
  readonly callTimeoutMs: number;
  readonly keep: KeepBytes | undefined;
  /** The server wants a login, or one that reaches further. */
  readonly onUnauthorized: () => void;
};

const WORDS_CHARS = 2_000;

/** Calls a tool; whatever goes wrong on the way is words for the model. */
export async function callTool(
  connection: Connection,
  tool: string,
  input: JsonObject,
  context: CallContext,
  site: CallSite,
): Promise<ToolOutcome> {
  try {
    return await outcomeOf(await connection.call(tool, input, context), site.keep);
  } catch (thrown) {
    if (thrown instanceof UrlElicitationRequiredError) throw new ToolFailure(await visited(thrown, context, site));
    if (context.signal.aborted) throw new ToolFailure('The call was stopped.', { cause: thrown });
    if (isUnauthorized(thrown)) {
      site.onUnauthorized();
      throw new ToolFailure(`${site.server} wants a login for this. The user can type /mcp login ${site.server}.`, {
        cause: thrown,
      });
    }
    throw new ToolFailure(failureWords(thrown, site, connection.ending()), { cause: thrown });
  }
}

/** The person has to go somewhere first: to one address after the other, as long as the answer is yes. */
async function visited(
  { elicitations }: UrlElicitationRequiredError,
  { ask, signal }: CallContext,
  { server }: CallSite,
): Promise<string> {
  for (const params of elicitations) {
    const { result } = await elicit(server, params, ask, signal);
    if (result.action !== 'accept')
      return `The user was to visit ${untrustedLine(params.url, 500)} for ${server} first, and did not want to.`;
  }
  const what = elicitations.map(({ url }) => untrustedLine(url, 500)).join(', ');
  return `${server} wants the user to finish something at ${what} first. They have said yes: call again when they say it is done.`;
}

function failureWords(thrown: unknown, { server, callTimeoutMs }: CallSite, ending: string | undefined): string {
  if (thrown instanceof ServerSilent) {
    if (thrown.message === 'endless')
      return `The MCP server ${server} told progress and never came to an end, so the call was given up. Whether it took effect is not known.`;
    const seconds = Math.round(callTimeoutMs / 1000);
    return `The MCP server ${server} said nothing for ${seconds} s, so the call was given up. Whether it took effect is not known.`;
  }
  if (ending !== undefined) {
    return `The MCP server ${server} ended during the call (${ending}). It is started again; whether the call took effect is not known.`;
  }
  const code = thrown instanceof McpError ? ` (error ${thrown.code})` : '';
  return `The MCP server ${server} answered with an error${code}: ${untrustedLine(plainMessage(thrown), WORDS_CHARS)}`;
}

/** The library puts its own prefix before the server's words. */
function plainMessage(thrown: unknown): string {
  return messageOf(thrown).replace(/^MCP error -?\d+: /, '');
}
