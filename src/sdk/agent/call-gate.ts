import type { AgentPort } from '../../agent/agent-deps.ts';
import { describeRefusal } from '../../contracts/denial.ts';
import type { Feature } from '../../contracts/feature.ts';
import type { JsonObject } from '../../contracts/json.ts';
import type { PermissionAnswer, PermissionRequest } from '../../contracts/permission.ts';
import type { BeforeCall, QueryDeps } from '../../contracts/query.ts';
import type { CallRequest, GateVerdict } from '../../contracts/tool.ts';
import { composeApprover } from '../../engine/features.ts';
import type { AgentTool } from '../../tools/definition/application-tool.ts';
import type { AgentParts } from './agent-parts.ts';
import type { AgentOptions } from './options.ts';

/**
 * Creates the gate of an agent in an application: its tools may run, unless one of them, a feature or `beforeToolCall`
 * wants the user to be asked. Features answer first, then the user.
 */
export function createCallGate(
  { options, resumption }: AgentParts,
  features: readonly Feature[],
  tools: () => readonly AgentTool[],
  askPermission: AgentPort['askPermission'],
): QueryDeps['gate'] {
  const approve = composeApprover(features);
  return async (call, hint, signal) => {
    // A call that ended before the run was suspended has passed its checks.
    if (resumption?.getOutcome(call.callId) !== undefined) return { behavior: 'allow', input: call.input };
    const given = resumption?.getAnswer(call.callId);
    if (given !== undefined) return toVerdict(call, given.answer, given.request.facts.input);
    const reason = hint.ask ?? findApprovalReason(call, hint, tools(), options);
    if (reason === undefined) return { behavior: 'allow', input: call.input };
    const answer =
      (await approve(call, signal)) ?? (await askPermission(createPermissionRequest(call, reason), signal));
    return toVerdict(call, answer, call.input);
  };
}

/**
 * Returns why a call asks first, unless a hook has allowed it: its tool requires approval. A tool of the application
 * that says nothing about itself asks as well, unless `beforeToolCall` looks at its calls.
 */
function findApprovalReason(
  { tool: name, input, isReadOnly }: CallRequest,
  { allow }: BeforeCall,
  tools: readonly AgentTool[],
  { beforeToolCall }: AgentOptions,
): string | undefined {
  if (allow !== undefined) return undefined;
  const tool = tools.find((one) => one.name === name || one.aliases.includes(name));
  const isSilent = tool?.source === 'host' && tool.requiresApproval === undefined && beforeToolCall === undefined;
  return isSilent && !isReadOnly
    ? `${tool.name} says neither isReadOnly nor requiresApproval, so its calls may change anything.`
    : tool?.requiresApproval?.(input);
}

function createPermissionRequest({ callId, tool, title, input }: CallRequest, reason: string): PermissionRequest {
  return {
    id: `ask-${callId}`,
    callId,
    toolName: tool,
    title,
    facts: { tool, input, kind: 'other' },
    reasons: [reason],
    targets: [],
    suggestions: [],
    trace: [],
    danger: 'none',
    concealed: 'none',
  };
}

function toVerdict(call: CallRequest, answer: PermissionAnswer, asked: JsonObject): GateVerdict {
  if (answer.behavior === 'allow') return { behavior: 'allow', input: answer.updatedInput ?? asked };
  const { by = 'user', note, message: reason, interrupt = false } = answer;
  if (by === 'unattended') {
    const message = `${call.tool} was not run: ${note ?? 'this run cannot ask for approval.'}`;
    return { behavior: 'deny', message, interrupt, denial: { by } };
  }
  const denial = { by, ...(reason === undefined ? {} : { reason }) };
  return { behavior: 'deny', message: describeRefusal(denial, note), interrupt, denial };
}
