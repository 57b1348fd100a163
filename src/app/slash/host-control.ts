import type { ControlPort } from '../../contracts/face/host.ts';
import { asJson } from '../../lib/as-json.ts';
import type { ConversationParts } from '../conversation-parts.ts';
import { controlMcp } from '../mcp/control-mcp.ts';
import { markAsRead, readForHost } from '../permissions/read-for-host.ts';
import { changeNow } from './change-now.ts';

/** What hosts may ask of a conversation beyond what a screen needs. */
export function wireControl(parts: ConversationParts): Partial<ControlPort> {
  const { permissions, live, extensions, choice, loop } = parts;
  return {
    ...controlMcp(parts.mcp),
    toolSpecs: () => loop.tools().map(({ spec }) => spec),
    callOwnTool: parts.callGated,
    permissionRules: () => ({ rules: permissions.rules(), directories: permissions.roots() }),
    async updatePermissions(updates) {
      await permissions.update(updates);
      return { ok: true };
    },
    settings() {
      const { merged, layers } = parts.loaded();
      return {
        merged: asJson(merged),
        sources: layers.map(({ source, settings }) => ({ source, settings: asJson(settings) })),
      };
    },
    async updateSettings(source, settings) {
      if (source === 'flag') return changeNow(parts, settings);
      const { updateSettings } = await import('../../settings/update-settings.ts');
      return updateSettings(source, settings, { ...parts, ouroHome: parts.environment.ouroHome });
    },
    async stopTask(id) {
      const shell = loop.shells.find(id)?.shell;
      if (shell === undefined && !loop.subagents.stop(id))
        return { ok: false, why: `There is no task ${id} in the background.` };
      await shell?.stop();
      return { ok: true };
    },
    async previewRewind(messageId) {
      // Comparing texts is loaded with the first question about them.
      const { previewRewind } = await import('../session/preview-rewind.ts');
      return previewRewind(parts.checkpoints, messageId);
    },
    readFile: (path, maxBytes) => readForHost(path, maxBytes, { permissions, cwd: live.now().cwd }),
    markAsRead: (path, mtimeMs) =>
      markAsRead(path, mtimeMs, { permissions, cwd: live.now().cwd, readState: loop.readState }),
    reloadSkills: parts.files.readExtensions,
    agents: () =>
      extensions().agents.map(({ name, description, model }) => ({
        name,
        description,
        ...(model === undefined ? {} : { model }),
      })),
    outputStyles: () => extensions().styles.map(({ name }) => name),
    account: () => ({ apiKeySource: choice.keySource }),
  };
}
