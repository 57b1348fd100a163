import { McpError, UrlElicitationRequiredError } from '@modelcontextprotocol/sdk/types.js';
import type { JsonObject } from '../../contracts/json.ts';
import { type CallContext, ToolFailure, type ToolOutcome } from '../../contracts/tool.ts';
import { getErrnoCode, getErrorMessage } from '../../lib/errors.ts';
import { wrapInReminder } from '../../lib/text/reminder.ts';
import { sanitizeUntrustedLine } from '../../lib/text/sanitize.ts';
import { isRenewalFailure } from '../auth/auth-server-fetch.ts';
import { isUnauthorized } from '../auth/stored-login-provider.ts';
import { convertMcpResult, type SaveBinaryContent } from '../content.ts';
import { elicit } from '../elicit.ts';
import { type McpServerConnection, ServerTimeoutError } from './mcp-server-connection.ts';

/** The server of a call, its limits, and what to do when it needs a login. */
export type McpCallOptions = {
  readonly server: string;
  readonly file: string | undefined;
  readonly callTimeoutMs: number;
  readonly saveBytes: SaveBinaryContent | undefined;
  /** Called when the server needs a login or more scopes. */
  readonly onUnauthorized: () => void;
};

const ERROR_CHARS = 2_000;

/** Calls a server's tool; every error becomes a `ToolFailure` with a message for the model. */
export async function callMcpTool(
  connection: McpServerConnection,
  tool: string,
  input: JsonObject,
  context: CallContext,
  site: McpCallOptions,
): Promise<ToolOutcome> {
  const refusals = new Set<string>();
  const ask: CallContext['ask'] = async (question, withdrawn) => {
    const answer = await context.ask(question, withdrawn);
    if (answer?.kind === 'elicitation' && answer.action !== 'accept') {
      const reason = answer.reason === undefined ? 'The user declined it.' : answer.reason;
      refusals.add(`${site.server} asked for input during this call and got none. ${reason}`);
    }
    return answer;
  };
  try {
    const result = await connection.callTool(tool, input, { ...context, ask });
    const outcome = await convertMcpResult(result, site.saveBytes);
    return refusals.size === 0 ? outcome : { ...outcome, attachment: wrapInReminder([...refusals].join('\n')) };
  } catch (thrown) {
    if (thrown instanceof UrlElicitationRequiredError)
      throw new ToolFailure(await requestVisits(thrown, context, site));
    if (context.signal.aborted) throw new ToolFailure('The call was stopped.', { cause: thrown });
    if (isUnauthorized(thrown)) {
      site.onUnauthorized();
      throw new ToolFailure(`${site.server} requires a login for this. The user can type /mcp login ${site.server}.`, {
        cause: thrown,
      });
    }
    const failure = describeFailure(thrown, site, connection.getCloseReason());
    throw new ToolFailure([failure, ...refusals].join('\n'), { cause: thrown });
  }
}

/** Asks the user to visit the addresses the server requires, one after the other until one is refused. */
async function requestVisits(
  { elicitations }: UrlElicitationRequiredError,
  { ask, signal }: CallContext,
  { server, file }: McpCallOptions,
): Promise<string> {
  for (const params of elicitations) {
    const { result, reason = 'They declined.' } = await elicit({ server, file }, params, ask, signal);
    if (result.action !== 'accept')
      return `${server} requires the user to visit ${sanitizeUntrustedLine(params.url, 500)} first. ${reason}`;
  }
  const addresses = elicitations.map(({ url }) => sanitizeUntrustedLine(url, 500)).join(', ');
  return `${server} wants the user to finish something at ${addresses} first. They have said yes: call again when they say it is done.`;
}

function describeFailure(
  thrown: unknown,
  { server, callTimeoutMs }: McpCallOptions,
  closeReason: string | undefined,
): string {
  if (thrown instanceof ServerTimeoutError) {
    if (thrown.message === 'endless')
      return `The MCP server ${server} reported progress but did not finish, so the call was abandoned. Whether it took effect is unknown.`;
    const seconds = Math.round(callTimeoutMs / 1000);
    return `The MCP server ${server} did not respond for ${seconds} s, so the call was abandoned. Whether it took effect is unknown.`;
  }
  if (closeReason !== undefined) {
    return `The MCP server ${server} ended during the call (${closeReason}). It is being restarted; whether the call took effect is unknown.`;
  }
  if (isRenewalFailure(thrown)) return `The MCP server ${server} was not called. ${getErrorMessage(thrown)}`;
  if (thrown instanceof Error && 'issues' in thrown)
    return `The MCP server ${server} sent an answer that does not follow the protocol. Whether the call took effect is unknown.`;
  if (getErrnoCode(thrown) !== undefined)
    return `The connection to the MCP server ${server} was lost (${getErrnoCode(thrown)}). Whether the call took effect is unknown.`;
  const message = sanitizeUntrustedLine(stripErrorPrefix(thrown), ERROR_CHARS);
  return `The MCP server ${server} answered with an error${describeCode(thrown)}${message === '' ? '.' : `: ${message}`}`;
}

function describeCode(thrown: unknown): string {
  if (thrown instanceof McpError) return ` (error ${thrown.code})`;
  return thrown instanceof Error && 'code' in thrown && typeof thrown.code === 'number' && thrown.code > 0
    ? ` (status ${thrown.code})`
    : '';
}

/** Removes the prefix the SDK puts before the server's message. */
function stripErrorPrefix(thrown: unknown): string {
  return getErrorMessage(thrown)
    .replace(/^(?:MCP error -?\d+: |Streamable HTTP error: (?:Error POSTing to endpoint:)?)/, '')
    .trim();
}
