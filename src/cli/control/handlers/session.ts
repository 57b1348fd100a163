import { z } from 'zod';
import type { JsonObject } from '../../../contracts/json.ts';
import type { Rule, RuleSource } from '../../../contracts/permission.ts';
import { answerOf, type Handler, type HandlerContext, handler, jsonObject, member, nothing } from '../handler.ts';
import { agentRow, commandRow } from '../rows.ts';

const READ_LIMIT_BYTES = 1_000_000;

/** The session, its files and its settings. */
export const sessionHandlers: Readonly<Record<string, Handler>> = {
  rename_session: handler(
    z.object({ title: z.string().trim().min(1), session_id: z.string().optional() }),
    async ({ title, session_id: id }, { conversation }) => {
      if (id !== undefined && id !== conversation.agent.sessionId) throw new Error('That session is no longer open.');
      await conversation.rename(title);
      return {};
    },
  ),
  rewind_files: handler(
    z.object({ user_message_id: z.string(), dry_run: z.boolean().optional() }),
    ({ user_message_id: uuid, dry_run: dry }, context) => {
      const id = context.ids.messageOf(uuid);
      return dry === true ? previewRewind(id, context) : rewindFiles(id, context);
    },
  ),
  stop_task: handler(z.object({ task_id: z.string() }), async ({ task_id: id }, context) =>
    answerOf(await member(context, 'stopTask')(id)),
  ),
  background_tasks: handler(
    z.object({ tool_use_id: z.string().optional() }),
    ({ tool_use_id: id }, { conversation }) => ({
      backgrounded: conversation.moveToBackground(id),
    }),
  ),
  seed_read_state: handler(z.object({ path: z.string(), mtime: z.number() }), async ({ path, mtime }, context) =>
    answerOf(await member(context, 'markAsRead')(path, mtime)),
  ),
  reload_output_styles: handler(nothing, async (_, context) => {
    await member(context, 'reloadSkills')();
    return { available_output_styles: member(context, 'outputStyles')() };
  }),
  file_suggestions: handler(z.object({ query: z.string() }), async ({ query }, { conversation }) => ({
    suggestions: (await conversation.findFiles(query, 20)).map((path) => ({ path })),
  })),
  cancel_async_message: handler(
    z.object({ message_uuid: z.string() }),
    ({ message_uuid: uuid }, { conversation, ids }) => {
      const id = ids.queueOf(uuid);
      return { cancelled: id !== undefined && conversation.agent.unqueue(id) !== undefined };
    },
  ),
  reload_skills: handler(nothing, async (_, context) => {
    await member(context, 'reloadSkills')();
    const skills = context.conversation.commands().filter(({ source }) => source === 'skill');
    return { skills: skills.map(commandRow) };
  }),
  reload_plugins: handler(
    z.object({ add_plugins: z.array(z.unknown()).optional() }),
    async ({ add_plugins: added }, context) => {
      if (added !== undefined && added.length > 0) throw new Error('Plugins cannot be added while ouro runs.');
      await member(context, 'reloadSkills')();
      const { conversation } = context;
      return {
        commands: conversation.commands().map(commandRow),
        agents: (conversation.control?.agents?.() ?? []).map(agentRow),
        plugins: conversation.info().plugins,
        mcpServers: (conversation.control?.mcpServers?.() ?? []).map((state) => ({ ...state })),
        error_count: 0,
      };
    },
  ),
  list_permission_rules: handler(nothing, (_, context) => {
    const { rules, directories } = member(context, 'permissionRules')();
    return {
      state: {
        rules: rules.map(ruleRow),
        workspaceDirectories: directories.map((path) => ({ path, source: 'session' })),
        originalCwd: context.conversation.info().cwd,
        managedOnly: false,
      },
    };
  }),
  get_settings: handler(nothing, (_, context) => {
    const { merged, sources } = member(context, 'settings')();
    return { effective: merged, sources: sources.map((source) => ({ ...source })) };
  }),
  update_settings: handler(
    z.object({ source: z.enum(['localSettings', 'userSettings']), settings: jsonObject }),
    async ({ source, settings }, context) =>
      answerOf(await member(context, 'updateSettings')(source === 'localSettings' ? 'local' : 'user', settings)),
  ),
  apply_flag_settings: handler(z.object({ settings: jsonObject }), async ({ settings }, context) =>
    answerOf(await member(context, 'updateSettings')('flag', settings)),
  ),
  read_file: handler(
    z.object({
      path: z.string(),
      max_bytes: z.number().int().positive().optional(),
      encoding: z.enum(['utf-8', 'base64']).optional(),
    }),
    async ({ path, max_bytes: max, encoding }, context) => {
      const read = await member(context, 'readFile')(path, Math.min(max ?? READ_LIMIT_BYTES, READ_LIMIT_BYTES));
      if (!read.ok) throw new Error(read.why);
      const bytes = Buffer.from(read.bytes);
      const common = { absPath: read.path, truncated: read.truncated };
      if (encoding === 'base64') return { contents: bytes.toString('base64'), encoding, ...common };
      const contents = bytes.toString('utf8');
      return { contents, lossy: !Buffer.from(contents).equals(bytes), ...common };
    },
  ),
};

async function rewindFiles(messageId: string, { conversation }: HandlerContext): Promise<JsonObject> {
  const checkpoint = (await conversation.checkpoints()).find((one) => one.messageId === messageId);
  if (checkpoint === undefined) return { canRewind: false, error: 'There is no checkpoint for that message.' };
  const outcome = await conversation.rewind(checkpoint.id, 'files');
  return outcome.ok
    ? { canRewind: true, filesChanged: [...outcome.restored, ...outcome.removed] }
    : { canRewind: false, error: outcome.why };
}

async function previewRewind(messageId: string, context: HandlerContext): Promise<JsonObject> {
  const preview = await member(context, 'previewRewind')(messageId);
  if (!preview.ok) return { canRewind: false, error: preview.why };
  const { files, insertions, deletions } = preview;
  return { canRewind: true, filesChanged: files, insertions, deletions };
}

const SOURCES: Readonly<Record<RuleSource, string>> = {
  managed: 'policySettings',
  flag: 'cliArg',
  session: 'session',
  user: 'userSettings',
  local: 'localSettings',
  project: 'projectSettings',
};

function ruleRow(rule: Rule): JsonObject {
  const isFile = rule.source === 'user' || rule.source === 'local' || rule.source === 'project';
  return {
    behavior: rule.behavior,
    source: SOURCES[rule.source],
    rule: rule.text,
    editability: isFile ? 'persistent' : rule.source === 'session' ? 'session' : 'readonly',
    ...(rule.problem === undefined ? {} : { notInEffect: true }),
  };
}
