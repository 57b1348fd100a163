import type { PermissionOption, ToolCallUpdate } from '@agentclientprotocol/sdk/unstable';
import type { Agent } from '../../contracts/agent.ts';
import type { AgentEvent } from '../../contracts/event.ts';
import type { PermissionAnswer, PermissionRequest } from '../../contracts/permission.ts';
import type { UserAnswer, UserQuestion } from '../../contracts/tool.ts';
import { exhaustive } from '../../lib/exhaustive.ts';
import { askedContent } from './asked-content.ts';
import { type Asker, elicitFromEditor } from './elicit-editor.ts';
import { locationsOf, toolKindOf } from './tool-content.ts';

/** Puts the questions of an agent and its sub-agents to the editor, and takes back those that others have answered. */
export function createQuestionRelay(agent: Agent, asker: Asker): (event: AgentEvent) => void {
  const open = new Map<string, AbortController>();

  function opened(id: string): AbortSignal {
    const controller = new AbortController();
    open.set(id, controller);
    return controller.signal;
  }

  // Nobody waits for the answers here: the agent does, by the question's id.
  return function relay(event) {
    switch (event.type) {
      case 'subagent':
        return relay(event.event);
      case 'permission_request': {
        const { request } = event;
        void askPermission(asker, request, opened(request.id)).then((answer) => {
          agent.answerPermission(request.id, answer, 'person');
        });
        return;
      }
      case 'question':
        void askQuestion(asker, event.callId, event.question, opened(event.id)).then((answer) => {
          agent.answerQuestion(event.id, answer);
        });
        return;
      case 'permission_answer':
        open.get(event.requestId)?.abort();
        return;
      case 'question_answer':
        open.get(event.id)?.abort();
        return;
      default:
    }
  };
}

const ALLOW: PermissionOption = { optionId: 'allow', name: 'Allow', kind: 'allow_once' };
const REJECT: PermissionOption = { optionId: 'reject', name: 'Do not allow', kind: 'reject_once' };
const DENIED = { behavior: 'deny', message: 'The user does not want this call to run.' } as const;

/** Asks the editor's user about a call. A prompt that is cancelled meanwhile is a denial that stops the run. */
async function askPermission(asker: Asker, request: PermissionRequest, signal: AbortSignal): Promise<PermissionAnswer> {
  const { facts, suggestions, danger, callId, toolName } = request;
  const always = (danger === 'breaker' ? [] : suggestions).map(
    ({ rule, leaves }, at): PermissionOption => ({
      optionId: `always:${at}`,
      name: `Always allow ${rule}${leaves === undefined ? '' : ` (but not ${leaves})`}`,
      kind: 'allow_always',
    }),
  );
  const { names = [], rules: ofPrograms = [] } = request.ofPrograms ?? {};
  const only: PermissionOption = {
    optionId: 'always:programs',
    name: `Always allow this for ${names.join(', ')}`,
    kind: 'allow_always',
  };
  const toolCall: ToolCallUpdate = {
    toolCallId: callId,
    title: request.title,
    kind: toolKindOf(toolName),
    status: 'pending',
    content: askedContent(request),
    locations: locationsOf(facts.input),
    rawInput: facts.input,
  };
  const chosen = await choose(
    asker,
    toolCall,
    [ALLOW, ...always, ...(ofPrograms.length === 0 ? [] : [only]), REJECT],
    signal,
  );
  if (chosen === undefined) return { ...DENIED, interrupt: true };
  if (chosen === 'allow') return { behavior: 'allow' };
  if (chosen === only.optionId) return { behavior: 'allow', remember: { rules: ofPrograms, destination: 'session' } };
  const suggestion = chosen.startsWith('always:') ? suggestions[Number(chosen.slice('always:'.length))] : undefined;
  if (suggestion === undefined) return DENIED;
  return { behavior: 'allow', remember: { rules: [suggestion.rule], destination: 'session' } };
}

/** How an editor draws an answer. */
const OPTION_KINDS = { once: 'allow_once', always: 'allow_always', no: 'reject_once' } as const;

/** A tool's own question, put as a choice. What is no choice cannot be asked here. */
async function askQuestion(
  asker: Asker,
  callId: string,
  question: UserQuestion,
  signal: AbortSignal,
): Promise<UserAnswer | undefined> {
  switch (question.kind) {
    case 'elicitation':
      return elicitFromEditor(asker, callId, question, signal);
    case 'plan': {
      const content: ToolCallUpdate['content'] = [{ type: 'content', content: { type: 'text', text: question.plan } }];
      const chosen = await choose(
        asker,
        { toolCallId: callId, title: 'Ready to start?', kind: 'switch_mode', content },
        [
          { optionId: 'accept_edits', name: 'Yes, and accept edits', kind: 'allow_always' },
          { optionId: 'accept', name: 'Yes', kind: 'allow_once' },
          { optionId: 'keep_planning', name: 'No, keep planning', kind: 'reject_once' },
        ],
        signal,
      );
      if (chosen === undefined) return undefined;
      return { kind: 'plan', verdict: chosen === 'accept' || chosen === 'accept_edits' ? chosen : 'keep_planning' };
    }
    case 'questions': {
      const answers: string[] = [];
      for (const one of question.questions) {
        const options = one.options.map(({ label, grade }, at): PermissionOption => {
          return { optionId: `${at}`, name: label, kind: OPTION_KINDS[grade ?? 'once'] };
        });
        const chosen = await choose(asker, { toolCallId: callId, title: one.question }, options, signal);
        const label = one.options[Number(chosen)]?.label;
        if (chosen === undefined || label === undefined) return undefined;
        answers.push(label);
      }
      return { kind: 'questions', answers };
    }
    default:
      return exhaustive(question);
  }
}

/** The id of what was chosen; `undefined` when the question was dismissed or could not be put. */
async function choose(
  { client, sessionId }: Asker,
  toolCall: ToolCallUpdate,
  options: PermissionOption[],
  signal: AbortSignal,
): Promise<string | undefined> {
  try {
    const { outcome } = await client.request(
      'session/request_permission',
      { sessionId, toolCall, options },
      { cancellationSignal: signal, stopWaitingOnCancel: true },
    );
    return outcome.outcome === 'selected' ? outcome.optionId : undefined;
  } catch {
    // The editor has gone or refused: nobody said yes.
    return undefined;
  }
}
