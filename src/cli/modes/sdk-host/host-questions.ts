import { z } from 'zod';
import type { AgentEvent } from '../../../contracts/event.ts';
import type { Conversation } from '../../../contracts/frontend/conversation.ts';
import { isJsonObject, type JsonObject } from '../../../contracts/json.ts';
import type { PermissionRequest } from '../../../contracts/permission.ts';
import type { UserAnswer, UserQuestion } from '../../../contracts/tool.ts';
import { exhaustive, getErrorMessage, getErrorPhrase } from '../../../lib/errors.ts';
import { joinQuote } from '../../../lib/text/quote-lines.ts';
import { type PermissionResponse, parsePermissionResponse } from '../permission-responses.ts';
import type { ControlRequestSender } from './control-request-sender.ts';

/**
 * Forwards permission requests and questions to the host, and withdraws those that are answered elsewhere. `asks` limits
 * them to elicitations of MCP servers when permissions are decided without the host.
 */
export function relayQuestionsToHost(
  conversation: Conversation,
  outgoing: ControlRequestSender,
  asks: 'everything' | 'elicitations only',
): () => void {
  const { agent } = conversation;
  const pending = new Map<string, AbortController>();

  async function askPermission(request: PermissionRequest): Promise<void> {
    const { answer, updates } = await requestPermission(
      outgoing,
      createPermissionRequest(request),
      createPending(request.id),
    );
    if (updates.length > 0) await conversation.control.updatePermissions(updates);
    pending.delete(request.id);
    agent.answerPermission(request.id, answer, 'host');
  }

  async function askQuestion(id: string, callId: string, asked: UserQuestion): Promise<void> {
    const answer = await requestAnswer(outgoing, callId, asked, createPending(id));
    pending.delete(id);
    agent.answerQuestion(id, answer);
  }

  function createPending(id: string): AbortSignal {
    const controller = new AbortController();
    pending.set(id, controller);
    return controller.signal;
  }

  return agent.subscribe(function handleEvent(event: AgentEvent): void {
    switch (event.type) {
      case 'subagent':
        handleEvent(event.event);
        break;
      // Not awaited: the agent waits for the answer by the id of the request.
      case 'permission_request':
        if (asks === 'everything') void askPermission(event.request);
        break;
      case 'question':
        if (asks === 'everything' || event.question.kind === 'elicitation')
          void askQuestion(event.id, event.callId, event.question);
        break;
      case 'permission_answer':
        pending.get(event.requestId)?.abort();
        break;
      case 'question_answer':
        pending.get(event.id)?.abort();
        break;
      default:
    }
  });
}

async function requestPermission(
  outgoing: ControlRequestSender,
  request: JsonObject,
  signal: AbortSignal,
): Promise<PermissionResponse> {
  try {
    return parsePermissionResponse(await outgoing.send(request, signal));
  } catch (thrown) {
    return {
      answer: { behavior: 'deny', by: 'unattended', note: `The host did not answer: ${getErrorPhrase(thrown)}.` },
      updates: [],
    };
  }
}

/** Creates the `can_use_tool` request of the SDK. */
function createPermissionRequest(request: PermissionRequest): JsonObject {
  const { facts, suggestions } = request;
  const blockedPath = request.targets.find(({ path, real }) => path !== real)?.real;
  return {
    subtype: 'can_use_tool',
    tool_name: request.toolName,
    display_name: request.title,
    input: facts.input,
    tool_use_id: request.callId,
    description: request.description ?? request.title,
    permission_suggestions: [
      ...[...suggestions.map(({ rule }) => rule), ...(request.ofPrograms?.rules ?? [])].map(createAddRuleUpdate),
      ...(facts.kind === 'edit' ? [{ type: 'setMode', mode: 'acceptEdits', destination: 'session' }] : []),
    ],
    ...(blockedPath === undefined ? {} : { blocked_path: blockedPath }),
    ...(request.reasons.length === 0 ? {} : { decision_reason: request.reasons.join('; ') }),
    ...(request.danger === 'breaker' ? { suppress_always_allow_rule: true } : {}),
    ...(request.agentId === undefined ? {} : { agent_id: request.agentId }),
  };
}

function createAddRuleUpdate(text: string): JsonObject {
  const [, toolName = text, ruleContent] = text.match(/^([^(]+)\((.*)\)$/s) ?? [];
  const rule = ruleContent === undefined ? { toolName } : { toolName, ruleContent };
  return { type: 'addRules', rules: [rule], behavior: 'allow', destination: 'session' };
}

const answersSchema = z.object({ answers: z.record(z.string(), z.union([z.string(), z.array(z.string())])) });

/** Sends a plan or questions as a tool call to approve, and an elicitation as such. */
async function requestAnswer(
  outgoing: ControlRequestSender,
  callId: string,
  question: UserQuestion,
  signal: AbortSignal,
): Promise<UserAnswer | undefined> {
  switch (question.kind) {
    case 'elicitation':
      return elicitFromHost(outgoing, question, signal);
    case 'plan': {
      const request = createToolApproval('ExitPlanMode', { plan: question.plan }, callId);
      const { answer } = await requestPermission(outgoing, request, signal);
      if (answer.behavior === 'deny' && answer.by === 'unattended') return undefined;
      if (answer.behavior === 'deny') {
        const feedback = answer.message === undefined ? {} : { words: answer.message };
        return { kind: 'plan', verdict: 'keep_planning', ...feedback };
      }
      return { kind: 'plan', verdict: answer.mode === 'acceptEdits' ? 'accept_edits' : 'accept' };
    }
    case 'questions': {
      const questions = question.questions.map(({ quote, ...item }) => ({
        ...item,
        question: joinQuote({ ...item, quote }, question.source?.server),
        options: item.options.map(({ grade: _, ...option }) => option),
      }));
      const { answer } = await requestPermission(
        outgoing,
        createToolApproval('AskUserQuestion', { questions }, callId),
        signal,
      );
      if (answer.behavior === 'deny') {
        const { by = 'host', message: reason } = answer;
        return by === 'unattended' ? undefined : { kind: 'refused', by, ...(reason === undefined ? {} : { reason }) };
      }
      const parsed = answersSchema.safeParse(answer.updatedInput);
      if (!parsed.success) return undefined;
      const answers = question.questions.map((item) =>
        [parsed.data.answers[joinQuote(item, question.source?.server)] ?? []].flat().join(', '),
      );
      return { kind: 'questions', answers };
    }
    default:
      return exhaustive(question);
  }
}

function createToolApproval(tool: string, input: JsonObject, callId: string): JsonObject {
  return {
    subtype: 'can_use_tool',
    tool_name: tool,
    display_name: tool,
    input,
    tool_use_id: callId,
    permission_suggestions: [],
    requires_user_interaction: true,
  };
}

type Elicitation = Extract<UserQuestion, { kind: 'elicitation' }>;

const elicitationSchema = z.object({
  action: z.enum(['accept', 'decline', 'cancel']),
  content: z.record(z.string(), z.json()).nullish(),
});

/** Sends an elicitation of an MCP server to the host: a form, or a URL to open. */
async function elicitFromHost(
  outgoing: ControlRequestSender,
  { server, message, wants }: Elicitation,
  signal: AbortSignal,
): Promise<UserAnswer> {
  const details =
    wants.mode === 'url'
      ? { mode: 'url', url: wants.url, elicitation_id: wants.id }
      : {
          mode: 'form',
          requested_schema: wants.schema,
          ...(isJsonObject(wants.schema.properties) ? { property_order: Object.keys(wants.schema.properties) } : {}),
        };
  try {
    const request = { subtype: 'elicitation', mcp_server_name: server, message, ...details };
    const { action, content } = elicitationSchema.parse(await outgoing.send(request, signal));
    return { kind: 'elicitation', action, ...(content == null ? {} : { content }) };
  } catch (thrown) {
    if (signal.aborted) return { kind: 'elicitation', action: 'cancel' };
    return { kind: 'elicitation', action: 'decline', reason: `The host did not answer: ${getErrorMessage(thrown)}` };
  }
}
