import { z } from 'zod';
import type { JsonObject } from '../../../contracts/json.ts';
import type { Rule, RuleSource } from '../../../contracts/permission.ts';
import {
  type ControlHandler,
  type ControlHandlerContext,
  createControlHandler,
  jsonObjectSchema,
  noParametersSchema,
  unwrapActionResult,
} from './control-handler.ts';
import { describeAgentForSdk, describeCommandForSdk, describeModelsForSdk } from './initialize.ts';

const MAX_READ_BYTES = 1_000_000;

/** Handlers for the session, its files, tasks, extensions and settings. */
export const sessionControlHandlers: Readonly<Record<string, ControlHandler>> = {
  rename_session: createControlHandler(
    z.object({ title: z.string().trim().min(1), session_id: z.string().optional() }),
    async ({ title, session_id: id }, { conversation }) => {
      if (id !== undefined && id !== conversation.agent.sessionId) throw new Error('That session is no longer open.');
      await conversation.rename(title);
      return {};
    },
  ),
  rewind_files: createControlHandler(
    z.object({ user_message_id: z.string(), dry_run: z.boolean().optional() }),
    ({ user_message_id: uuid, dry_run: isDryRun }, context) => {
      const id = context.ids.getMessageId(uuid);
      return isDryRun === true ? previewRewind(id, context) : rewindFiles(id, context);
    },
  ),
  stop_task: createControlHandler(z.object({ task_id: z.string() }), async ({ task_id: id }, context) =>
    unwrapActionResult(await context.conversation.control.stopTask(id)),
  ),
  background_tasks: createControlHandler(
    z.object({ tool_use_id: z.string().optional() }),
    ({ tool_use_id: id }, { conversation }) => ({
      backgrounded: conversation.moveToBackground(id),
    }),
  ),
  seed_read_state: createControlHandler(
    z.object({ path: z.string(), mtime: z.number() }),
    async ({ path, mtime }, context) => unwrapActionResult(await context.conversation.control.markAsRead(path, mtime)),
  ),
  reload_output_styles: createControlHandler(noParametersSchema, async (_, context) => {
    await context.conversation.control.reloadSkills();
    return { available_output_styles: context.conversation.control.outputStyles() };
  }),
  file_suggestions: createControlHandler(z.object({ query: z.string() }), async ({ query }, { conversation }) => ({
    suggestions: (await conversation.findFiles(query, 20)).map((path) => ({ path })),
  })),
  cancel_async_message: createControlHandler(
    z.object({ message_uuid: z.string() }),
    ({ message_uuid: uuid }, { conversation, ids }) => {
      const id = ids.getQueueId(uuid);
      return { cancelled: id !== undefined && conversation.agent.unqueue(id) !== undefined };
    },
  ),
  reload_skills: createControlHandler(noParametersSchema, async (_, context) => {
    await context.conversation.control.reloadSkills();
    const skills = context.conversation.commands().filter(({ source }) => source === 'skill');
    return { skills: skills.map(describeCommandForSdk) };
  }),
  reload_plugins: createControlHandler(
    z.object({ add_plugins: z.array(z.unknown()).optional() }),
    async ({ add_plugins: added }, context) => {
      if (added !== undefined && added.length > 0) throw new Error('Plugins cannot be added to a running session.');
      await context.conversation.control.reloadSkills();
      const { conversation } = context;
      return {
        commands: conversation.commands().map(describeCommandForSdk),
        agents: conversation.control.agents().map(describeAgentForSdk),
        plugins: conversation.info().plugins,
        mcpServers: conversation.control.mcpServers().map((state) => ({ ...state })),
        error_count: 0,
      };
    },
  ),
  list_permission_rules: createControlHandler(noParametersSchema, (_, context) => {
    const { rules, directories } = context.conversation.control.permissionRules();
    return {
      state: {
        rules: rules.map(describeRule),
        workspaceDirectories: directories.map((path) => ({ path, source: 'session' })),
        originalCwd: context.conversation.info().cwd,
        managedOnly: false,
      },
    };
  }),
  get_settings: createControlHandler(noParametersSchema, (_, context) => {
    const { merged, sources } = context.conversation.control.settings();
    return { effective: merged, sources: sources.map((source) => ({ ...source })) };
  }),
  update_settings: createControlHandler(
    z.object({ source: z.enum(['localSettings', 'userSettings']), settings: jsonObjectSchema }),
    async ({ source, settings }, context) =>
      unwrapActionResult(
        await context.conversation.control.updateSettings(source === 'localSettings' ? 'local' : 'user', settings),
      ),
  ),
  apply_flag_settings: createControlHandler(z.object({ settings: jsonObjectSchema }), async ({ settings }, context) =>
    unwrapActionResult(await context.conversation.control.updateSettings('flag', settings)),
  ),
  read_file: createControlHandler(
    z.object({
      path: z.string(),
      max_bytes: z.number().int().positive().optional(),
      encoding: z.enum(['utf-8', 'base64']).optional(),
    }),
    async ({ path, max_bytes: maxBytes, encoding }, context) => {
      const file = await context.conversation.control.readFile(
        path,
        Math.min(maxBytes ?? MAX_READ_BYTES, MAX_READ_BYTES),
      );
      if (!file.ok) throw new Error(file.problem);
      const bytes = Buffer.from(file.bytes);
      const common = { absPath: file.path, truncated: file.truncated };
      if (encoding === 'base64') return { contents: bytes.toString('base64'), encoding, ...common };
      const contents = bytes.toString('utf8');
      return { contents, lossy: !Buffer.from(contents).equals(bytes), ...common };
    },
  ),
};

async function rewindFiles(messageId: string, { conversation }: ControlHandlerContext): Promise<JsonObject> {
  const checkpoint = (await conversation.checkpoints()).find((candidate) => candidate.messageId === messageId);
  if (checkpoint === undefined) return { canRewind: false, error: 'There is no checkpoint for that message.' };
  const outcome = await conversation.rewind(checkpoint.id, 'files');
  return outcome.ok
    ? { canRewind: true, filesChanged: [...outcome.restored, ...outcome.removed] }
    : { canRewind: false, error: outcome.problem };
}

async function previewRewind(messageId: string, context: ControlHandlerContext): Promise<JsonObject> {
  const preview = await context.conversation.control.previewRewind(messageId);
  if (!preview.ok) return { canRewind: false, error: preview.problem };
  const { files, insertions, deletions } = preview;
  return { canRewind: true, filesChanged: files, insertions, deletions };
}

const SDK_SOURCES: Readonly<Record<RuleSource, string>> = {
  managed: 'policySettings',
  flag: 'cliArg',
  session: 'session',
  user: 'userSettings',
  local: 'localSettings',
  project: 'projectSettings',
};

function describeRule(rule: Rule): JsonObject {
  const isFile = rule.source === 'user' || rule.source === 'local' || rule.source === 'project';
  return {
    behavior: rule.behavior,
    source: SDK_SOURCES[rule.source],
    rule: rule.text,
    editability: isFile ? 'persistent' : rule.source === 'session' ? 'session' : 'readonly',
    ...(rule.problem === undefined ? {} : { notInEffect: true }),
  };
}

/** Handlers for model, permission mode and thinking. */
export const modelControlHandlers: Readonly<Record<string, ControlHandler>> = {
  set_permission_mode: createControlHandler(z.object({ mode: z.string() }), ({ mode }, { conversation }) => {
    const outcome = conversation.setMode(mode);
    if (!outcome.ok) throw new Error(outcome.problem);
    return { mode: outcome.mode };
  }),
  set_model: createControlHandler(z.object({ model: z.string().nullish() }), async ({ model }, { conversation }) => {
    const outcome = await conversation.setModel(model == null || model === 'default' ? undefined : model);
    if (!outcome.ok) throw new Error(outcome.problem);
    return { model: outcome.model };
  }),
  set_max_thinking_tokens: createControlHandler(
    z.object({ max_thinking_tokens: z.number().int().min(0).nullish() }),
    ({ max_thinking_tokens: tokens }, { conversation }) => {
      if (tokens !== undefined) conversation.setThinkingTokens(tokens ?? undefined);
      return {};
    },
  ),
  list_models: createControlHandler(noParametersSchema, async (_, { conversation }) => ({
    models: await describeModelsForSdk(conversation),
  })),
  get_binary_version: createControlHandler(noParametersSchema, (_, { conversation }) => ({
    version: conversation.info().version,
  })),
};
