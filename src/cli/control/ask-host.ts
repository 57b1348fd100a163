import { z } from 'zod';
import type { AgentEvent } from '../../contracts/event.ts';
import type { Conversation } from '../../contracts/face/conversation.ts';
import type { JsonObject } from '../../contracts/json.ts';
import type { PermissionRequest } from '../../contracts/permission.ts';
import type { UserAnswer, UserQuestion } from '../../contracts/tool.ts';
import { messageOf } from '../../lib/errors.ts';
import { exhaustive } from '../../lib/exhaustive.ts';
import { type HostAnswer, readHostAnswer } from '../wire/permission-answer.ts';
import { elicitFromHost } from './elicit-host.ts';
import type { Outbox } from './outbox.ts';

/** Hands the questions of the agent to the host, and withdraws those that somebody else has answered. */
export function askHost(
  conversation: Conversation,
  outbox: Outbox,
  asks: 'everything' | 'what servers want to know',
): () => void {
  const { agent } = conversation;
  const open = new Map<string, AbortController>();

  async function permission(request: PermissionRequest): Promise<void> {
    const { answer, updates } = await hostAnswer(outbox, canUseTool(request), opened(request.id));
    if (updates.length > 0) await conversation.control?.updatePermissions?.(updates);
    open.delete(request.id);
    agent.answerPermission(request.id, answer, 'host');
  }

  async function question(id: string, callId: string, asked: UserQuestion): Promise<void> {
    const answer = await hostWords(outbox, callId, asked, opened(id));
    open.delete(id);
    agent.answerQuestion(id, answer);
  }

  function opened(id: string): AbortSignal {
    const controller = new AbortController();
    open.set(id, controller);
    return controller.signal;
  }

  return agent.subscribe(function hear(event: AgentEvent): void {
    switch (event.type) {
      case 'subagent':
        hear(event.event);
        break;
      // Nobody waits here: the agent does, by the question's id.
      case 'permission_request':
        if (asks === 'everything') void permission(event.request);
        break;
      case 'question':
        if (asks === 'everything' || event.question.kind === 'elicitation')
          void question(event.id, event.callId, event.question);
        break;
      case 'permission_answer':
        open.get(event.requestId)?.abort();
        break;
      case 'question_answer':
        open.get(event.id)?.abort();
        break;
      default:
    }
  });
}

async function hostAnswer(outbox: Outbox, request: JsonObject, signal: AbortSignal): Promise<HostAnswer> {
  try {
    return readHostAnswer(await outbox.ask(request, signal));
  } catch (thrown) {
    return { answer: { behavior: 'deny', message: `The host did not answer: ${messageOf(thrown)}` }, updates: [] };
  }
}

/** The question as hosts know it. */
function canUseTool(request: PermissionRequest): JsonObject {
  const { facts, suggestions } = request;
  const blocked = request.targets.find(({ path, real }) => path !== real)?.real;
  return {
    subtype: 'can_use_tool',
    tool_name: request.toolName,
    display_name: request.title,
    input: facts.input,
    tool_use_id: request.callId,
    description: request.description ?? request.title,
    permission_suggestions: [
      ...[...suggestions.map(({ rule }) => rule), ...(request.ofPrograms?.rules ?? [])].map(addRule),
      ...(facts.kind === 'edit' ? [{ type: 'setMode', mode: 'acceptEdits', destination: 'session' }] : []),
    ],
    ...(blocked === undefined ? {} : { blocked_path: blocked }),
    ...(request.reasons.length === 0 ? {} : { decision_reason: request.reasons.join('; ') }),
    ...(request.danger === 'breaker' ? { suppress_always_allow_rule: true } : {}),
    ...(request.agentId === undefined ? {} : { agent_id: request.agentId }),
  };
}

function addRule(text: string): JsonObject {
  const [, toolName = text, ruleContent] = text.match(/^([^(]+)\((.*)\)$/s) ?? [];
  const rule = ruleContent === undefined ? { toolName } : { toolName, ruleContent };
  return { type: 'addRules', rules: [rule], behavior: 'allow', destination: 'session' };
}

const answersSchema = z.object({ answers: z.record(z.string(), z.union([z.string(), z.array(z.string())])) });

/** Questions of tools: in the form of a call to approve, or an elicitation of an MCP server. */
async function hostWords(
  outbox: Outbox,
  callId: string,
  question: UserQuestion,
  signal: AbortSignal,
): Promise<UserAnswer | undefined> {
  switch (question.kind) {
    case 'elicitation':
      return elicitFromHost(outbox, question, signal);
    case 'plan': {
      const request = approval('ExitPlanMode', { plan: question.plan }, callId);
      const { answer } = await hostAnswer(outbox, request, signal);
      if (answer.behavior === 'deny') {
        const words = answer.message === undefined ? {} : { words: answer.message };
        return { kind: 'plan', verdict: 'keep_planning', ...words };
      }
      return { kind: 'plan', verdict: answer.mode === 'acceptEdits' ? 'accept_edits' : 'accept' };
    }
    case 'questions': {
      const questions = question.questions.map((one) => ({
        ...one,
        options: one.options.map(({ grade: _, ...own }) => own),
      }));
      const { answer } = await hostAnswer(outbox, approval('AskUserQuestion', { questions }, callId), signal);
      const read = answersSchema.safeParse(answer.behavior === 'allow' ? answer.updatedInput : undefined);
      if (!read.success) return undefined;
      const said = question.questions.map((one) => [read.data.answers[one.question] ?? []].flat().join(', '));
      return { kind: 'questions', answers: said };
    }
    default:
      return exhaustive(question);
  }
}

function approval(tool: string, input: JsonObject, callId: string): JsonObject {
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
