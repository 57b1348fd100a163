import { z } from 'zod';
import type { AgentEvent } from '../../contracts/event.ts';
import type { Conversation } from '../../contracts/frontend/conversation.ts';
import type { PermissionUpdate, PermissionUpdateDestination } from '../../contracts/frontend/host-capabilities.ts';
import type { JsonObject } from '../../contracts/json.ts';
import { PERMISSION_MODES, type PermissionAnswer, type PermissionRequest } from '../../contracts/permission.ts';
import { exhaustive, getErrorMessage } from '../../lib/errors.ts';
import { omitUndefined } from '../../lib/json.ts';
import { dismissQuestion } from './unattended-answers.ts';

const destinationSchema = z
  .enum(['session', 'localSettings', 'projectSettings', 'userSettings', 'cliArg'])
  .transform((source): PermissionUpdateDestination => {
    switch (source) {
      case 'localSettings':
        return 'local';
      case 'projectSettings':
        return 'project';
      case 'userSettings':
        return 'user';
      case 'session':
      case 'cliArg':
        return 'session';
      default:
        return exhaustive(source);
    }
  });

const ruleSchema = z
  .object({ toolName: z.string(), ruleContent: z.string().optional() })
  .transform(({ toolName, ruleContent }) => (ruleContent === undefined ? toolName : `${toolName}(${ruleContent})`));

const modeSchema = z.enum(PERMISSION_MODES);

const updateSchema = z.union([
  z.object({
    type: z.enum(['addRules', 'replaceRules', 'removeRules']),
    rules: z.array(ruleSchema),
    behavior: z.enum(['allow', 'ask', 'deny']),
    destination: destinationSchema,
  }),
  z.object({
    type: z.enum(['addDirectories', 'removeDirectories']),
    directories: z.array(z.string()),
    destination: destinationSchema,
  }),
  z.object({ type: z.literal('setMode'), mode: modeSchema, destination: destinationSchema }),
]);

const jsonObjectSchema: z.ZodType<JsonObject> = z.record(z.string(), z.json());

const answerSchema = z.union([
  z.object({
    behavior: z.literal('allow'),
    updatedInput: jsonObjectSchema.optional(),
    updatedPermissions: z.array(updateSchema).nullish(),
  }),
  z.object({ behavior: z.literal('deny'), message: z.string().optional(), interrupt: z.boolean().optional() }),
]);

/** The response of a host or MCP tool to a permission request: the answer, and further rule changes. */
export type PermissionResponse = { readonly answer: PermissionAnswer; readonly updates: readonly PermissionUpdate[] };

/** Parses a permission response. An invalid one is a denial. */
export function parsePermissionResponse(value: unknown): PermissionResponse {
  const parsed = answerSchema.safeParse(value);
  if (!parsed.success) {
    const message = `The host answered in a form that is not understood: ${parsed.error.issues[0]?.message ?? ''}`;
    return { answer: { behavior: 'deny', by: 'unattended', note: message }, updates: [] };
  }
  if (parsed.data.behavior === 'deny') {
    const { message, interrupt } = parsed.data;
    const answer = {
      ...({ behavior: 'deny', by: 'host' } as const),
      ...omitUndefined({ message, interrupt }),
    };
    return { answer, updates: [] };
  }
  const { updatedInput, updatedPermissions } = parsed.data;
  const updates = updatedPermissions ?? [];
  const setMode = updates.findLast((update) => update.type === 'setMode');
  const allowUpdate = updates.find((update) => update.type === 'addRules' && update.behavior === 'allow');
  const remembered = allowUpdate?.type === 'addRules' ? allowUpdate : undefined;
  return {
    answer: {
      behavior: 'allow',
      ...(updatedInput === undefined ? {} : { updatedInput }),
      ...(setMode === undefined ? {} : { mode: setMode.mode }),
      ...(remembered === undefined
        ? {}
        : { remember: { rules: remembered.rules, destination: remembered.destination } }),
    },
    updates: updates.filter((update) => update.type !== 'setMode').filter((update) => update !== remembered),
  };
}

/** Lets an MCP tool answer permission requests; a failed call is a denial that says why. */
export function answerWithMcpTool(conversation: Conversation, tool: string, servers: 'declined' | 'left'): () => void {
  const { agent } = conversation;
  return agent.subscribe(function handleEvent(event: AgentEvent): void {
    if (event.type === 'subagent') handleEvent(event.event);
    if (event.type === 'question') dismissQuestion(agent, event, servers);
    // Not awaited: the agent waits for the answer by the id of the request.
    if (event.type === 'permission_request') void answerPermission(conversation, tool, event.request);
  });
}

async function answerPermission(conversation: Conversation, tool: string, request: PermissionRequest): Promise<void> {
  const { answer, updates } = await askTool(conversation, tool, request);
  if (updates.length > 0) await conversation.control.updatePermissions(updates);
  conversation.agent.answerPermission(request.id, answer, 'host');
}

async function askTool(
  conversation: Conversation,
  tool: string,
  request: PermissionRequest,
): Promise<PermissionResponse> {
  const { toolName, facts, callId } = request;
  try {
    const input = { tool_name: toolName, input: facts.input, tool_use_id: callId };
    return parsePermissionResponse(JSON.parse(await conversation.control.callTool(tool, input)));
  } catch (thrown) {
    const message = `${toolName} needs permission, and ${tool} could not be asked: ${getErrorMessage(thrown)}`;
    return { answer: { behavior: 'deny', by: 'unattended', note: message }, updates: [] };
  }
}
