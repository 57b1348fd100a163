import type { ActionResult, HostControlPort } from '../contracts/frontend/host-capabilities.ts';
import type { JsonObject } from '../contracts/json.ts';
import { EFFORTS } from '../contracts/model.ts';
import { copyAsJson } from '../lib/json.ts';
import { createMcpControl } from '../mcp/mcp-control.ts';
import { findBuiltInToolTraits } from '../tools/tool-traits.ts';
import type { ConversationParts } from './conversation-parts.ts';
import { markFileReadByModel, readFileForSdkHost } from './permissions/host-file-access.ts';
import { previewRewind } from './session/checkpoints.ts';

export function createHostControl(parts: ConversationParts): Partial<HostControlPort> {
  const { core, permissions, loop, shells } = parts;
  const getContext = () => ({ permissions, cwd: core.live.current().cwd });
  return {
    ...createMcpControl(parts.mcp),
    listServedTools: () =>
      loop.toolset.listEnabled().flatMap(({ name, label, spec }) => {
        const kind = findBuiltInToolTraits(name)?.served;
        return kind === undefined ? [] : [{ spec, label, kind }];
      }),
    callServedTool: async (name, input, caller) =>
      findBuiltInToolTraits(name)?.served === undefined
        ? { end: 'refused', content: `There is no tool ${name}.` }
        : loop.directCalls.call(name, input, caller),
    permissionRules: () => ({ rules: permissions.getRules(), directories: permissions.getRoots() }),
    async updatePermissions(updates) {
      await permissions.applyUpdates(updates);
      return { ok: true };
    },
    settings() {
      const { merged, layers } = core.settings.loaded();
      return {
        merged: copyAsJson(merged),
        sources: layers.map(({ source, settings }) => ({ source, settings: copyAsJson(settings) })),
      };
    },
    async updateSettings(source, settings) {
      if (source === 'flag') return applySettings(parts, settings);
      const { updateHostSettings } = await import('../settings/edit-settings.ts');
      const { cwd, trusted, environment } = core;
      return updateHostSettings(source, settings, { cwd, trusted, ouroHome: environment.ouroHome });
    },
    async stopTask(id) {
      const shell = shells.find(id)?.shell;
      if (shell === undefined && !loop.subAgents.stop(id))
        return { ok: false, why: `There is no background task ${id}.` };
      await shell?.stop();
      return { ok: true };
    },
    previewRewind: (messageId) => previewRewind(parts.checkpoints, messageId),
    readFile: (path, maxBytes) => readFileForSdkHost(path, maxBytes, getContext()),
    markAsRead: (path, mtimeMs) =>
      markFileReadByModel(path, mtimeMs, { ...getContext(), readState: loop.toolset.readState }),
    reloadSkills: core.extensions.reload,
    agents: () =>
      core.extensions.current().agents.map(({ name, description, model }) => ({
        name,
        description,
        ...(model === undefined ? {} : { model }),
      })),
    outputStyles: () => core.extensions.current().styles.map(({ name }) => name),
    account: () => ({ apiKeySource: core.model.keySource }),
  };
}

/** Applies settings to this process only. Only the model and the effort can change while it runs. */
async function applySettings({ actions }: ConversationParts, settings: JsonObject): Promise<ActionResult> {
  for (const [key, value] of Object.entries(settings)) {
    const effort = key === 'effort' || key === 'effortLevel' ? EFFORTS.find((known) => known === value) : undefined;
    if (key === 'model' && (typeof value === 'string' || value === null)) {
      const outcome = await actions.setModel(value ?? undefined);
      if (!outcome.ok) return outcome;
    } else if (effort !== undefined) {
      const outcome = actions.setEffort(effort);
      if (!outcome.ok) return outcome;
    } else return { ok: false, why: `${key} cannot be set to ${JSON.stringify(value)} while ouro is running.` };
  }
  return { ok: true };
}
