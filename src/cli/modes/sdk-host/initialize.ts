import { resolve } from 'node:path';
import { z } from 'zod';
import type { CliRunOptions } from '../../../contracts/frontend/cli-run-options.ts';
import type { CommandInfo } from '../../../contracts/frontend/command.ts';
import type { Conversation } from '../../../contracts/frontend/conversation.ts';
import { HOOK_EVENTS, type Hook, type HookEvent } from '../../../contracts/hook.ts';
import type { JsonObject } from '../../../contracts/json.ts';
import type { ModelInfo } from '../../../contracts/model.ts';
import { findSchemaProblem } from '../../args/answer-schema-problem.ts';
import { describeSchemaError } from './control-handler.ts';
import type { ControlRequestSender } from './control-request-sender.ts';
import { addHostToolPolicies, type HostMcpServers, serverToolPolicySchema } from './host-mcp-servers.ts';

const jsonObjectSchema: z.ZodType<JsonObject> = z.record(z.string(), z.json());

const hookMatcherSchema = z.object({
  matcher: z.string().nullish(),
  hookCallbackIds: z.array(z.string()),
  timeout: z.number().nullish(),
  onFailure: z.enum(['continue', 'block']).nullish(),
});

const pluginSchema = z.object({ type: z.literal('local'), path: z.string(), skipMcpDiscovery: z.boolean().nullish() });

const requestSchema = z.object({
  subtype: z.literal('initialize'),
  hooks: z.record(z.string(), z.array(hookMatcherSchema)).nullish(),
  sdkMcpServers: z.array(z.string()).nullish(),
  mcpServers: jsonObjectSchema.nullish(),
  systemPrompt: z.union([z.string(), z.array(z.string())]).nullish(),
  appendSystemPrompt: z.string().nullish(),
  agents: jsonObjectSchema.nullish(),
  jsonSchema: jsonObjectSchema.nullish(),
  excludeDynamicSections: z.boolean().nullish(),
  toolAliases: z.record(z.string(), z.string()).nullish(),
  skills: z.array(z.string()).nullish(),
  planModeInstructions: z.string().nullish(),
  promptSuggestions: z.boolean().nullish(),
  sdkMcpServerConfigs: z.record(z.string(), serverToolPolicySchema).nullish(),
  title: z.string().nullish(),
  plugins: z.array(pluginSchema).nullish(),
  perTaskStopAffordance: z.boolean().nullish(),
  forwardSubagentText: z.boolean().nullish(),
  // Accepted without effect: prompts are rendered once, dialogs are never sent to a host, and its servers do the MCP
  // handshake themselves.
  systemPromptSnapshot: z.unknown().optional(),
  supportedDialogKinds: z.unknown().optional(),
  sdkMcpServerManifests: z.unknown().optional(),
  sdkMcpServerManifestsOrigin: z.unknown().optional(),
});

/**
 * Returns a warning about unknown fields of an initialize request. Fields that restrict the run are applied, and those
 * that would make another run if ignored are refused; only what does neither may be reported like this.
 */
export function describeUnknownFields(request: JsonObject): string | undefined {
  const unknownFields = Object.keys(request).filter((key) => !Object.hasOwn(requestSchema.shape, key));
  return unknownFields.length === 0 ? undefined : `initialize: ignoring unknown fields ${unknownFields.join(', ')}.`;
}

/** Separates the static from the dynamic part of a host's system prompt; removed before use. */
const DYNAMIC_BOUNDARY = '__SYSTEM_PROMPT_DYNAMIC_BOUNDARY__';

/** Merges an initialize request into the run options; throws the reason why it is invalid. */
export function applyInitialize(
  options: CliRunOptions,
  request: JsonObject,
  outgoing: ControlRequestSender,
  servers: HostMcpServers,
): CliRunOptions {
  const parsed = requestSchema.safeParse(request);
  if (!parsed.success) throw new Error(describeSchemaError(parsed.error));
  const fields = parsed.data;
  const problem = fields.jsonSchema == null ? undefined : findSchemaProblem(fields.jsonSchema);
  if (problem !== undefined) throw new Error(problem);
  const prompt = typeof fields.systemPrompt === 'string' ? [fields.systemPrompt] : fields.systemPrompt;
  return {
    ...options,
    ...(prompt == null ? {} : { systemPrompt: prompt.filter((part) => part !== DYNAMIC_BOUNDARY).join('\n\n') }),
    ...(fields.appendSystemPrompt == null ? {} : { appendSystemPrompt: fields.appendSystemPrompt }),
    ...(fields.excludeDynamicSections === true ? { dynamicSections: 'in-messages' } : {}),
    ...(fields.agents == null ? {} : { agents: fields.agents }),
    ...(fields.toolAliases == null ? {} : { toolAliases: fields.toolAliases }),
    ...(fields.skills == null ? {} : { skills: fields.skills }),
    ...(fields.planModeInstructions == null ? {} : { planInstructions: fields.planModeInstructions }),
    ...(fields.promptSuggestions === true ? { promptSuggestions: true } : {}),
    ...(fields.plugins == null ? {} : { pluginDirs: mergePluginDirs(options, fields.plugins) }),
    ...addHostToolPolicies(options.policy, fields.sdkMcpServerConfigs ?? {}),
    ...(fields.jsonSchema == null ? {} : { jsonSchema: fields.jsonSchema }),
    ...(fields.mcpServers == null
      ? {}
      : { mcpConfig: [...options.mcpConfig, JSON.stringify({ mcpServers: fields.mcpServers })] }),
    host: {
      hooks: createHooks(fields.hooks ?? {}, outgoing),
      mcpServers: (fields.sdkMcpServers ?? []).map(servers.getServer),
      getsSubAgentText: fields.forwardSubagentText === true,
    },
  };
}

function mergePluginDirs({ pluginDirs = [], cwd }: CliRunOptions, plugins: readonly z.output<typeof pluginSchema>[]) {
  const added = plugins.map(({ path, skipMcpDiscovery }) => ({
    folder: resolve(cwd, path),
    servers: skipMcpDiscovery === true ? ('excluded' as const) : ('started' as const),
  }));
  return [...pluginDirs, ...added];
}

/** Reports to a host that named plugins whether all of them are loaded. */
function reportPlugins(conversation: Conversation, request: JsonObject): JsonObject {
  const { plugins } = requestSchema.pick({ plugins: true }).parse(request);
  if (plugins == null) return {};
  const { folder, plugins: loaded } = conversation.info();
  const isLoaded = (path: string) => loaded.some((candidate) => candidate.path === resolve(folder, path));
  return { plugins_applied: plugins.every(({ path }) => isLoaded(path)) };
}

/** Events after which nothing is left to block, so `onFailure` is ignored. */
const UNBLOCKABLE_EVENTS: readonly HookEvent[] = ['Stop', 'SubagentStop', 'TaskCompleted'];

/** Creates one hook per callback; unknown events are ignored. */
function createHooks(
  groups: Readonly<Record<string, readonly z.output<typeof hookMatcherSchema>[]>>,
  outgoing: ControlRequestSender,
): Hook[] {
  return HOOK_EVENTS.flatMap((event) =>
    (groups[event] ?? []).flatMap((group) =>
      group.hookCallbackIds.map(
        (id): Hook => ({
          type: 'command',
          event,
          source: 'host',
          ...(group.matcher == null ? {} : { matcher: group.matcher }),
          ...(group.timeout == null ? {} : { timeout: group.timeout }),
          ...(group.onFailure == null || UNBLOCKABLE_EVENTS.includes(event) ? {} : { onFailure: group.onFailure }),
          callback: (input, signal) => {
            const toolUseId = typeof input.tool_use_id === 'string' ? { tool_use_id: input.tool_use_id } : {};
            const answer = outgoing.send({ subtype: 'hook_callback', callback_id: id, input, ...toolUseId }, signal);
            // A host that has already closed stdin has ended the session itself.
            return event === 'SessionEnd' ? answer.catch(() => ({})) : answer;
          },
        }),
      ),
    ),
  );
}

/** Creates the response to an initialize request. */
export async function createInitializeResponse(
  conversation: Conversation,
  request: JsonObject,
  pid: number,
): Promise<JsonObject> {
  const { control } = conversation;
  const info = conversation.info();
  return {
    commands: conversation.commands().map(describeCommandForSdk),
    agents: control.agents().map(describeAgentForSdk),
    models: await describeModelsForSdk(conversation),
    output_style: info.outputStyle,
    available_output_styles: control.outputStyles(),
    account: control.account(),
    hooks_applied: true,
    hook_on_failure_supported: true,
    ...reportPlugins(conversation, request),
    pid,
  };
}

/** Describes a slash command in the form of the SDK. */
export function describeCommandForSdk({ name, description, argumentHint, aliases, source }: CommandInfo): JsonObject {
  return {
    name,
    description,
    argumentHint: argumentHint ?? '',
    ...(aliases === undefined ? {} : { aliases }),
    ...(source === 'builtin' ? { builtin: true } : {}),
  };
}

/** Describes the selectable models in the form of the SDK; the first is the default model of the run. */
export async function describeModelsForSdk(
  conversation: Pick<Conversation, 'models' | 'info'>,
): Promise<readonly JsonObject[]> {
  const { defaultModel, modelInfo, model } = conversation.info();
  const models = await conversation.models();
  const defaultInfo = models.find(({ id }) => id === defaultModel) ?? (model === defaultModel ? modelInfo : undefined);
  const first = defaultInfo === undefined ? { resolvedModel: defaultModel } : describeModel(defaultInfo);
  const defaultRow = {
    ...first,
    value: 'default',
    displayName: 'Default',
    description: `Model at startup (${defaultModel})`,
  };
  return [defaultRow, ...models.map(describeModel)];
}

function describeModel(model: ModelInfo): JsonObject {
  return {
    value: model.id,
    resolvedModel: model.id,
    displayName: model.label,
    description: `${Math.round(model.contextWindow / 1000)}k tokens of context`,
    supportsEffort: model.effort,
    ...(model.effort ? { supportedEffortLevels: [...model.efforts] } : {}),
    supportsAdaptiveThinking: model.thinking === 'adaptive',
  };
}

/** Describes a sub-agent in the form of the SDK. */
export function describeAgentForSdk(agent: {
  readonly name: string;
  readonly description: string;
  readonly model?: string;
}): JsonObject {
  return { ...agent };
}
