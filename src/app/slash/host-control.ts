import type { Attempt, ControlPort } from '../../contracts/face/host.ts';
import type { JsonObject } from '../../contracts/json.ts';
import { EFFORTS } from '../../contracts/model.ts';
import { asJson } from '../../lib/as-json.ts';
import { toolNamed } from '../../tools/statements.ts';
import { controlMcp } from '../mcp/control-mcp.ts';
import { markAsRead, readForHost } from '../permissions/read-for-host.ts';
import type { ConversationParts } from './conversation-parts.ts';

/** What hosts may ask of a conversation beyond what a screen needs. */
export function hostControl(parts: ConversationParts): Partial<ControlPort> {
  const { core, permissions, loop, shells } = parts;
  const around = () => ({ permissions, cwd: core.live.now().cwd });
  return {
    ...controlMcp(parts.mcp),
    servedTools: () =>
      loop.toolset.all().flatMap(({ name, label, spec }) => {
        const kind = toolNamed(name)?.served;
        return kind === undefined ? [] : [{ spec, label, kind }];
      }),
    callServed: async (name, input, caller) =>
      toolNamed(name)?.served === undefined
        ? { end: 'refused', content: `There is no tool ${name}.` }
        : loop.gatedCalls.call(name, input, caller),
    permissionRules: () => ({ rules: permissions.rules(), directories: permissions.roots() }),
    async updatePermissions(updates) {
      await permissions.update(updates);
      return { ok: true };
    },
    settings() {
      const { merged, layers } = core.settings.loaded();
      return {
        merged: asJson(merged),
        sources: layers.map(({ source, settings }) => ({ source, settings: asJson(settings) })),
      };
    },
    async updateSettings(source, settings) {
      if (source === 'flag') return changeNow(parts, settings);
      const { updateSettings } = await import('../../settings/update-settings.ts');
      const { cwd, trusted, environment } = core;
      return updateSettings(source, settings, { cwd, trusted, ouroHome: environment.ouroHome });
    },
    async stopTask(id) {
      const shell = shells.find(id)?.shell;
      if (shell === undefined && !loop.subAgents.stop(id))
        return { ok: false, why: `There is no task ${id} in the background.` };
      await shell?.stop();
      return { ok: true };
    },
    async previewRewind(messageId) {
      // Comparing texts is loaded with the first question about them.
      const { previewRewind } = await import('../session/preview-rewind.ts');
      return previewRewind(parts.checkpoints, messageId);
    },
    readFile: (path, maxBytes) => readForHost(path, maxBytes, around()),
    markAsRead: (path, mtimeMs) => markAsRead(path, mtimeMs, { ...around(), readState: loop.toolset.readState }),
    reloadSkills: core.extensions.reload,
    agents: () =>
      core.extensions.now().agents.map(({ name, description, model }) => ({
        name,
        description,
        ...(model === undefined ? {} : { model }),
      })),
    outputStyles: () => core.extensions.now().styles.map(({ name }) => name),
    account: () => ({ apiKeySource: core.model.keySource }),
  };
}

/** Settings that hold from now on and for this process alone: those that can change while it runs. */
async function changeNow({ actions }: ConversationParts, settings: JsonObject): Promise<Attempt> {
  for (const [key, value] of Object.entries(settings)) {
    const effort = key === 'effort' || key === 'effortLevel' ? EFFORTS.find((known) => known === value) : undefined;
    if (key === 'model' && (typeof value === 'string' || value === null)) {
      const outcome = await actions.setModel(value ?? undefined);
      if (!outcome.ok) return outcome;
    } else if (effort !== undefined) {
      const outcome = actions.setEffort(effort);
      if (!outcome.ok) return outcome;
    } else return { ok: false, why: `${key} cannot become ${JSON.stringify(value)} while ouro runs.` };
  }
  return { ok: true };
}
