import { resolve } from 'node:path';
import { z } from 'zod';
import type { Conversation } from '../../contracts/face/conversation.ts';
import type { RunOptions } from '../../contracts/face/run-options.ts';
import { HOOK_EVENTS, type Hook, type HookEvent } from '../../contracts/hook.ts';
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
  onFailure: z.enum(['continue', 'block']).nullish(),
});

const plugin = z.object({ type: z.literal('local'), path: z.string(), skipMcpDiscovery: z.boolean().nullish() });

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
  plugins: z.array(plugin).nullish(),
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
    ...(said.plugins == null ? {} : { pluginDirs: pluginDirs(options, said.plugins) }),
    ...policyWith(options.policy, said.sdkMcpServerConfigs ?? {}),
    ...(said.jsonSchema == null ? {} : { jsonSchema: said.jsonSchema }),
    ...(said.mcpServers == null
      ? {}
      : { mcpConfig: [...options.mcpConfig, JSON.stringify({ mcpServers: said.mcpServers })] }),
    host: { hooks: hooksOf(said.hooks ?? {}, outbox), mcpServers: (said.sdkMcpServers ?? []).map(servers.server) },
  };
}

function pluginDirs({ pluginDirs = [], cwd }: RunOptions, wanted: readonly z.output<typeof plugin>[]) {
  const more = wanted.map(({ path, skipMcpDiscovery }) => ({
    folder: resolve(cwd, path),
    servers: skipMcpDiscovery === true ? ('left out' as const) : ('started' as const),
  }));
  return [...pluginDirs, ...more];
}

/** A host that named plugins learns whether all of them are there. */
function pluginsApplied(conversation: Conversation, request: JsonObject): JsonObject {
  const { plugins } = schema.pick({ plugins: true }).parse(request);
  if (plugins == null) return {};
  const { folder, plugins: loaded } = conversation.info();
  return { plugins_applied: plugins.every(({ path }) => loaded.some((one) => one.path === resolve(folder, path))) };
}

/** Where a callback that fails stops nothing, whatever the host says: there is nothing left that could be refused. */
const UNGUARDED: readonly HookEvent[] = ['Stop', 'SubagentStop', 'TaskCompleted'];

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
          ...(group.onFailure == null || UNGUARDED.includes(event) ? {} : { onFailure: group.onFailure }),
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
export async function initializeAnswer(
  conversation: Conversation,
  request: JsonObject,
  pid: number,
): Promise<JsonObject> {
  const { control } = conversation;
  const info = conversation.info();
  return {
    commands: conversation.commands().map(commandRow),
    agents: control?.agents?.().map(agentRow) ?? info.agents.map((name) => ({ name, description: '' })),
    models: await modelRows(conversation),
    output_style: info.outputStyle,
    available_output_styles: control?.outputStyles?.() ?? [info.outputStyle],
    account: control?.account?.() ?? { apiKeySource: info.apiKeySource },
    hooks_applied: true,
    hook_on_failure_supported: true,
    ...pluginsApplied(conversation, request),
    pid,
  };
}
