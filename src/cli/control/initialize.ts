import { z } from 'zod';
import type { Conversation } from '../../contracts/face/conversation.ts';
import type { RunOptions } from '../../contracts/face/run-options.ts';
import { HOOK_EVENTS, type Hook } from '../../contracts/hook.ts';
import type { JsonObject } from '../../contracts/json.ts';
import { schemaProblem } from '../args/read-flags.ts';
import { problemOf } from './handler.ts';
import { policyWith, serverConfigSchema } from './host-policy.ts';
import type { HostServers } from './host-servers.ts';
import type { Outbox } from './outbox.ts';
import { agentRow, commandRow, modelRows } from './rows.ts';

const json: z.ZodType<JsonObject> = z.record(z.string(), z.json());

const matcher = z.object({
  matcher: z.string().nullish(),
  hookCallbackIds: z.array(z.string()),
  timeout: z.number().nullish(),
});

const schema = z.object({
  subtype: z.literal('initialize'),
  hooks: z.record(z.string(), z.array(matcher)).nullish(),
  sdkMcpServers: z.array(z.string()).nullish(),
  mcpServers: json.nullish(),
  systemPrompt: z.union([z.string(), z.array(z.string())]).nullish(),
  appendSystemPrompt: z.string().nullish(),
  agents: json.nullish(),
  jsonSchema: json.nullish(),
  excludeDynamicSections: z.boolean().nullish(),
  toolAliases: z.record(z.string(), z.string()).nullish(),
  skills: z.array(z.string()).nullish(),
  planModeInstructions: z.string().nullish(),
  promptSuggestions: z.boolean().nullish(),
  sdkMcpServerConfigs: z.record(z.string(), serverConfigSchema).nullish(),
  title: z.string().nullish(),
  perTaskStopAffordance: z.boolean().nullish(),
  // What sub-agents say is told in any case, a prompt is never rendered twice, no dialog is ever put to a host, and
  // servers of the host shake hands themselves.
  forwardSubagentText: z.unknown().optional(),
  systemPromptSnapshot: z.unknown().optional(),
  supportedDialogKinds: z.unknown().optional(),
  sdkMcpServerManifests: z.unknown().optional(),
  sdkMcpServerManifestsOrigin: z.unknown().optional(),
});

/** What a host says at the beginning that changes nothing here, in a sentence. */
export function unheardWishes(request: JsonObject): string | undefined {
  const unheard = Object.keys(request).filter((key) => !Object.hasOwn(schema.shape, key));
  return unheard.length === 0 ? undefined : `initialize: ${unheard.join(', ')} is not known here and changes nothing.`;
}

/** Marks where the stable part of a host's prompt ends; it is no word of the prompt. */
const BOUNDARY = '__SYSTEM_PROMPT_DYNAMIC_BOUNDARY__';

/** The options of the run with what the host said at the beginning. */
export function withInitialize(
  options: RunOptions,
  request: JsonObject,
  outbox: Outbox,
  servers: HostServers,
): RunOptions {
  const read = schema.safeParse(request);
  if (!read.success) throw new Error(problemOf(read.error));
  const said = read.data;
  const problem = said.jsonSchema == null ? undefined : schemaProblem(said.jsonSchema);
  if (problem !== undefined) throw new Error(problem);
  const prompt = typeof said.systemPrompt === 'string' ? [said.systemPrompt] : said.systemPrompt;
  return {
    ...options,
    ...(prompt == null ? {} : { systemPrompt: prompt.filter((part) => part !== BOUNDARY).join('\n\n') }),
    ...(said.appendSystemPrompt == null ? {} : { appendSystemPrompt: said.appendSystemPrompt }),
    ...(said.excludeDynamicSections === true ? { dynamicSections: 'in messages' } : {}),
    ...(said.agents == null ? {} : { agents: said.agents }),
    ...(said.toolAliases == null ? {} : { toolAliases: said.toolAliases }),
    ...(said.skills == null ? {} : { skills: said.skills }),
    ...(said.planModeInstructions == null ? {} : { planInstructions: said.planModeInstructions }),
    ...(said.promptSuggestions === true ? { promptSuggestions: true } : {}),
    ...policyWith(options.policy, said.sdkMcpServerConfigs ?? {}),
    ...(said.jsonSchema == null ? {} : { jsonSchema: said.jsonSchema }),
    ...(said.mcpServers == null
      ? {}
      : { mcpConfig: [...options.mcpConfig, JSON.stringify({ mcpServers: said.mcpServers })] }),
    host: { hooks: hooksOf(said.hooks ?? {}, outbox), mcpServers: (said.sdkMcpServers ?? []).map(servers.server) },
  };
}

/** Each callback is a hook of its own; events we do not have never fire. */
function hooksOf(groups: Readonly<Record<string, readonly z.output<typeof matcher>[]>>, outbox: Outbox): Hook[] {
  return HOOK_EVENTS.flatMap((event) =>
    (groups[event] ?? []).flatMap((group) =>
      group.hookCallbackIds.map(
        (id): Hook => ({
          type: 'command',
          event,
          source: 'host',
          ...(group.matcher == null ? {} : { matcher: group.matcher }),
          ...(group.timeout == null ? {} : { timeout: group.timeout }),
          callback: (input, signal) => {
            const toolUseId = typeof input.tool_use_id === 'string' ? { tool_use_id: input.tool_use_id } : {};
            const answer = outbox.ask({ subtype: 'hook_callback', callback_id: id, input, ...toolUseId }, signal);
            // A host that has closed its side has ended the session itself.
            return event === 'SessionEnd' ? answer.catch(() => ({})) : answer;
          },
        }),
      ),
    ),
  );
}

/** What the host learns in return. */
export function initializeAnswer(conversation: Conversation, pid: number): JsonObject {
  const { control } = conversation;
  const info = conversation.info();
  return {
    commands: conversation.commands().map(commandRow),
    agents: control?.agents?.().map(agentRow) ?? info.agents.map((name) => ({ name, description: '' })),
    models: modelRows(conversation),
    output_style: info.outputStyle,
    available_output_styles: control?.outputStyles?.() ?? [info.outputStyle],
    account: control?.account?.() ?? { apiKeySource: info.apiKeySource },
    hooks_applied: true,
    pid,
  };
}
