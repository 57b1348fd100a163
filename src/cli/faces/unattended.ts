import type { Agent } from '../../contracts/agent.ts';
import type { AgentEvent } from '../../contracts/event.ts';
import type { PermissionRequest } from '../../contracts/permission.ts';

/**
 * Where nobody can be asked, a question is a denial that says what would have allowed the call. What MCP servers want to
 * know may be somebody else's to answer.
 */
export function answerForNobody(agent: Agent, servers: 'declined' | 'left'): () => void {
  return agent.subscribe(function hear(event: AgentEvent): void {
    if (event.type === 'subagent') hear(event.event);
    if (event.type === 'question') answerQuestion(agent, event, servers);
    if (event.type !== 'permission_request') return;
    agent.answerPermission(event.request.id, { behavior: 'deny', message: denialOf(event.request) }, 'host');
  });
}

type QuestionEvent = Extract<AgentEvent, { type: 'question' }>;

/** What nobody answers; a server hears why. */
export function answerQuestion(agent: Agent, { id, question }: QuestionEvent, servers: 'declined' | 'left'): void {
  if (question.kind !== 'elicitation') agent.answerQuestion(id, undefined);
  else if (servers === 'declined')
    agent.answerQuestion(id, { kind: 'elicitation', action: 'decline', reason: 'Nobody is there to be asked.' });
}

/** Names the rule or the mode that would have let the call pass. */
function denialOf({ toolName, reasons, suggestions, facts, danger }: PermissionRequest): string {
  const why = reasons.length === 0 ? '' : ` (${reasons.join('; ')})`;
  const whole = suggestions.filter(({ leaves }) => leaves === undefined);
  const rules = whole.map(({ rule }) => `--allowedTools "${rule}"`);
  const mode = facts.kind === 'edit' ? ['--permission-mode acceptEdits'] : [];
  const ways = danger === 'breaker' ? [] : [...rules.slice(0, 1), ...mode];
  const help =
    ways.length === 0 ? 'It needs a person at the keyboard.' : `It would be allowed by ${ways.join(' or ')}.`;
  return `${toolName} needs permission${why}, and nobody is there to ask. ${help} Do what you can without it.`;
}
