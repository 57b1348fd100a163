import type { AgentEvent } from '../../contracts/event.ts';
import type { Conversation } from '../../contracts/face/conversation.ts';
import type { PermissionRequest } from '../../contracts/permission.ts';
import { messageOf } from '../../lib/errors.ts';
import { type HostAnswer, readHostAnswer } from '../wire/permission-answer.ts';
import { answerQuestion } from './unattended.ts';

/** Lets an MCP tool answer questions; whatever goes wrong on the way is a denial that says so. */
export function answerByTool(conversation: Conversation, tool: string, servers: 'declined' | 'left'): () => void {
  const { agent } = conversation;
  return agent.subscribe(function hear(event: AgentEvent): void {
    if (event.type === 'subagent') hear(event.event);
    if (event.type === 'question') answerQuestion(agent, event, servers);
    // Nobody waits for the answer here: the agent does, by the question's id.
    if (event.type === 'permission_request') void settle(conversation, tool, event.request);
  });
}

async function settle(conversation: Conversation, tool: string, request: PermissionRequest): Promise<void> {
  const { answer, updates } = await askTool(conversation, tool, request);
  if (updates.length > 0) await conversation.control?.updatePermissions?.(updates);
  conversation.agent.answerPermission(request.id, answer, 'host');
}

async function askTool(conversation: Conversation, tool: string, request: PermissionRequest): Promise<HostAnswer> {
  const { toolName, facts, callId } = request;
  const call = conversation.control?.callTool;
  try {
    if (call === undefined) throw new Error('no MCP tool can be called here');
    return readHostAnswer(
      JSON.parse(await call(tool, { tool_name: toolName, input: facts.input, tool_use_id: callId })),
    );
  } catch (thrown) {
    const message = `${toolName} needs permission, and ${tool} could not be asked: ${messageOf(thrown)}`;
    return { answer: { behavior: 'deny', message }, updates: [] };
  }
}
