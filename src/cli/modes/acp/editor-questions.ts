import type {
  AgentContext,
  ClientCapabilities,
  PermissionOption,
  ToolCallContent,
  ToolCallUpdate,
} from '@agentclientprotocol/sdk/unstable';
import { z } from 'zod';
import type { Agent } from '../../../contracts/agent.ts';
import type { AgentEvent } from '../../../contracts/event.ts';
import type { PermissionAnswer, PermissionRequest } from '../../../contracts/permission.ts';
import type { UserAnswer, UserQuestion } from '../../../contracts/tool.ts';
import { exhaustive, getErrorMessage } from '../../../lib/errors.ts';
import { formatCodeBlock } from '../../../lib/text/markdown.ts';
import { joinQuote, quoteLines } from '../../../lib/text/quote-lines.ts';
import { sanitize } from '../../../lib/text/sanitize.ts';
import { listCallLocations } from '../../../tools/touched-files.ts';
import { convertDiffToAcp, convertProposedEditToAcp, getAcpToolKind } from './session-updates.ts';

/** Creates a listener that sends questions to the editor and withdraws those answered elsewhere. */
export function createAcpQuestionRelay(agent: Agent, asker: QuestionTarget): (event: AgentEvent) => void {
  const pending = new Map<string, AbortController>();

  function createPending(id: string): AbortSignal {
    const controller = new AbortController();
    pending.set(id, controller);
    return controller.signal;
  }

  // Not awaited: the agent waits for the answers by the id of the request.
  return function relayQuestion(event) {
    switch (event.type) {
      case 'subagent':
        return relayQuestion(event.event);
      case 'permission_request': {
        const { request } = event;
        void askPermission(asker, request, createPending(request.id)).then((answer) => {
          agent.answerPermission(request.id, answer, 'person');
        });
        return;
      }
      case 'question':
        void askQuestion(asker, event.callId, event.question, createPending(event.id)).then((answer) => {
          agent.answerQuestion(event.id, answer);
        });
        return;
      case 'permission_answer':
        pending.get(event.requestId)?.abort();
        return;
      case 'question_answer':
        pending.get(event.id)?.abort();
        return;
      default:
    }
  };
}

const ALLOW_OPTION: PermissionOption = { optionId: 'allow', name: 'Allow', kind: 'allow_once' };
const REJECT_OPTION: PermissionOption = { optionId: 'reject', name: 'Deny', kind: 'reject_once' };
const DENIED = { behavior: 'deny' } as const;

/** Asks the user of the editor about a call. A cancelled request denies the call and stops the run. */
async function askPermission(
  asker: QuestionTarget,
  request: PermissionRequest,
  signal: AbortSignal,
): Promise<PermissionAnswer> {
  const { facts, suggestions, danger, callId, toolName } = request;
  const alwaysOptions = (danger === 'breaker' ? [] : suggestions).map(
    ({ rule, uncovered }, index): PermissionOption => ({
      optionId: `always:${index}`,
      name: `Always allow ${rule}${uncovered === undefined ? '' : ` (but not ${uncovered.join(' and ')})`}`,
      kind: 'allow_always',
    }),
  );
  const { names = [], rules: programRules = [] } = request.ofPrograms ?? {};
  const programsOption: PermissionOption = {
    optionId: 'always:programs',
    name: `Always allow this for ${names.join(', ')}`,
    kind: 'allow_always',
  };
  const toolCall: ToolCallUpdate = {
    toolCallId: callId,
    title: request.title,
    kind: getAcpToolKind(toolName),
    status: 'pending',
    content: createAcpPermissionContent(request),
    locations: [...listCallLocations(facts)],
    rawInput: facts.input,
  };
  const chosen = await choose(
    asker,
    toolCall,
    [ALLOW_OPTION, ...alwaysOptions, ...(programRules.length === 0 ? [] : [programsOption]), REJECT_OPTION],
    signal,
  );
  if (chosen === undefined) return { ...DENIED, interrupt: true };
  if (chosen === 'failed') return { ...DENIED, by: 'unattended', note: 'The editor did not answer.', interrupt: true };
  if (chosen === 'allow') return { behavior: 'allow' };
  if (chosen === programsOption.optionId)
    return { behavior: 'allow', remember: { rules: programRules, destination: 'session' } };
  const suggestion = chosen.startsWith('always:') ? suggestions[Number(chosen.slice('always:'.length))] : undefined;
  if (suggestion === undefined) return DENIED;
  return { behavior: 'allow', remember: { rules: [suggestion.rule], destination: 'session' } };
}

/** ACP option kinds by the grade of an answer. */
const OPTION_KINDS = { once: 'allow_once', always: 'allow_always', no: 'reject_once' } as const;

/** Asks a question of a tool as a choice, the only form ACP has. */
async function askQuestion(
  asker: QuestionTarget,
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
      if (chosen === undefined) return DISMISSED;
      if (chosen === 'failed') return undefined;
      return { kind: 'plan', verdict: chosen === 'accept' || chosen === 'accept_edits' ? chosen : 'keep_planning' };
    }
    case 'questions': {
      const answers: string[] = [];
      for (const item of question.questions) {
        const options = item.options.map(({ label, grade }, index): PermissionOption => {
          return { optionId: `${index}`, name: label, kind: OPTION_KINDS[grade ?? 'once'] };
        });
        const chosen = await choose(
          asker,
          { toolCallId: callId, title: joinQuote(item, question.source?.server) },
          options,
          signal,
        );
        const label = item.options[Number(chosen)]?.label;
        if (chosen === undefined) return DISMISSED;
        if (label === undefined) return undefined;
        answers.push(label);
      }
      return { kind: 'questions', answers };
    }
    default:
      return exhaustive(question);
  }
}

const DISMISSED = { kind: 'refused', by: 'user' } as const;

/** Returns the id of the chosen option, `undefined` when the question was dismissed, `failed` when it was not put. */
async function choose(
  { client, sessionId }: QuestionTarget,
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
    // A failed request is never an approval.
    return signal.aborted ? undefined : 'failed';
  }
}

/** The editor that answers questions, for one session. */
type QuestionTarget = {
  readonly client: AgentContext;
  readonly sessionId: string;
  readonly capabilities: ClientCapabilities;
};

type Elicitation = Extract<UserQuestion, { kind: 'elicitation' }>;

const answerSchema = z.object({ action: z.string(), content: z.record(z.string(), z.json()).nullish() });

/** Sends an elicitation of an MCP server to the editor; declines it if the editor cannot show this kind. @internal */
export async function elicitFromEditor(
  { client, sessionId, capabilities }: QuestionTarget,
  callId: string,
  { server, message, wants }: Elicitation,
  signal: AbortSignal,
): Promise<UserAnswer> {
  if (capabilities.elicitation?.[wants.mode] == null)
    return {
      kind: 'elicitation',
      action: 'decline',
      reason: `The editor cannot ask questions with a ${MODE_NAMES[wants.mode]}.`,
    };
  const common = { sessionId, toolCallId: callId, message: `The MCP server ${server} asks:\n${quoteLines(message)}` };
  const request =
    wants.mode === 'url'
      ? ({ ...common, mode: 'url', url: wants.url, elicitationId: wants.id } as const)
      : ({ ...common, mode: 'form', requestedSchema: { ...wants.schema, type: 'object' } } as const);
  try {
    const answer = answerSchema.parse(
      await client.request('elicitation/create', request, { cancellationSignal: signal, stopWaitingOnCancel: true }),
    );
    if (answer.action !== 'accept')
      return { kind: 'elicitation', action: answer.action === 'decline' ? 'decline' : 'cancel' };
    return { kind: 'elicitation', action: 'accept', content: answer.content ?? {} };
  } catch (thrown) {
    if (signal.aborted) return { kind: 'elicitation', action: 'cancel' };
    return { kind: 'elicitation', action: 'decline', reason: `The editor did not answer: ${getErrorMessage(thrown)}` };
  }
}

const MODE_NAMES = { form: 'form', url: 'page to visit' } as const;

/**
 * Returns the content of a permission request: warnings and the complete call. The title has one line only, and not
 * every editor shows the raw input. @internal
 */
export function createAcpPermissionContent(request: PermissionRequest): ToolCallContent[] {
  const { facts, toolName, preview } = request;
  const change = convertDiffToAcp(preview) ?? convertProposedEditToAcp(toolName, facts.input);
  const texts = [...listWarnings(request), ...(change.length === 0 ? formatCall(request) : [])];
  return [...texts.map((text): ToolCallContent => ({ type: 'content', content: { type: 'text', text } })), ...change];
}

/** Lists hidden characters, resolved links, and what the call needs beyond the call itself. */
function listWarnings({ targets, concealed, danger, facts, reasons }: PermissionRequest): readonly string[] {
  const hasFurtherNeeds = danger === 'breaker' || facts.opens !== undefined || facts.outside !== undefined;
  return [
    ...(concealed === 'none' ? [] : ['It contains invisible characters.']),
    ...targets.map(({ path, real }) => `${path} resolves to ${real}`),
    ...(hasFurtherNeeds ? reasons : []),
  ].map((text) => sanitize(text, 'line'));
}

function formatCall({ facts, title }: PermissionRequest): readonly string[] {
  const { command, input } = facts;
  if (command !== undefined) return command === title ? [] : [formatCodeBlock(sanitize(command, 'prompt'))];
  return Object.keys(input).length === 0
    ? []
    : [formatCodeBlock(sanitize(JSON.stringify(input, undefined, 2), 'prompt'))];
}
