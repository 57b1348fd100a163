import type { Agent } from '../../contracts/agent.ts';
import type { AgentEvent } from '../../contracts/event.ts';

/** Denies every permission request of an unattended run; `servers` decides about elicitations. */
export function denyUnattendedRequests(agent: Agent, servers: 'declined' | 'left'): () => void {
  return agent.subscribe(function handleEvent(event: AgentEvent): void {
    if (event.type === 'subagent') handleEvent(event.event);
    if (event.type === 'question') dismissQuestion(agent, event, servers);
    if (event.type !== 'permission_request') return;
    agent.answerPermission(event.request.id, { behavior: 'deny', by: 'unattended' }, 'host');
  });
}

type QuestionEvent = Extract<AgentEvent, { type: 'question' }>;

/** Dismisses a question of an unattended run; declines an elicitation with a reason, unless it is left. */
export function dismissQuestion(agent: Agent, { id, question }: QuestionEvent, servers: 'declined' | 'left'): void {
  if (question.kind !== 'elicitation') agent.answerQuestion(id, undefined);
  else if (servers === 'declined')
    agent.answerQuestion(id, { kind: 'elicitation', action: 'decline', reason: 'This run cannot ask the user.' });
}
