import { join } from 'node:path';
import type { AgentEvent } from '../contracts/event.ts';
import type { Plugin, PluginMonitor } from '../contracts/extension.ts';
import type { SessionCore } from '../contracts/session-core.ts';
import { getErrorMessage } from '../lib/errors.ts';
import type { ProgramCheck } from '../lib/processes/program-check.ts';
import type { KnownKeys } from '../lib/text/known-keys.ts';
import type { ProcessLedger } from '../tools/bash/run-shell.ts';
import type { ShellRegistry } from '../tools/bash/shell-registry.ts';
import { startCommand } from '../tools/bash/start-command.ts';
import { quoteFolderVariables } from './hook-runners.ts';

/**
 * The monitors of plugins, which run beside the session with the rights of hooks. Each is a background shell whose
 * every line is watched, so it is in the list of shells, and the limits on lines and automatic turns apply.
 */
export type PluginMonitors = ReturnType<typeof createPluginMonitors>;

type MonitorDeps = {
  readonly session: { readonly ledger: ProcessLedger; readonly transcript: { readonly folder: string } };
  readonly shells: ShellRegistry;
  readonly checkProgram: ProgramCheck;
};

/** Creates the monitors of plugins. Only the screen and editors start monitors; a script asks for one answer. */
export function createPluginMonitors(
  core: SessionCore & {
    readonly knownKeys: KnownKeys;
    readonly extensions: { current(): { readonly plugins: readonly Plugin[] } };
  },
  { session, shells, checkProgram }: MonitorDeps,
) {
  /** Ids of the shells, by monitor and version of the plugin; each is started once. */
  const started = new Map<string, Promise<string | undefined>>();
  const isEnabled = core.options.frontend === 'screen' || core.options.frontend === 'editor';
  const getKey = (plugin: Plugin, { name, command }: PluginMonitor) => `${plugin.root}\0${name}\0${command}`;
  const listMonitors = () =>
    !isEnabled || core.settings.current().disableAllHooks === true
      ? []
      : core.extensions
          .current()
          .plugins.flatMap((plugin) =>
            plugin.monitors.map((monitor) => ({ plugin, monitor, key: getKey(plugin, monitor) })),
          );

  async function start({ variables, hookVariables }: Plugin, { name, command }: PluginMonitor) {
    const callId = `monitor-${core.newId()}`;
    try {
      const env = { ...variables.folders, ...hookVariables, CLAUDE_PROJECT_DIR: core.cwd };
      const line = quoteFolderVariables(command, env);
      const all = { ...core.settings.variables(), ...env };
      const checked = await checkProgram({ command: { line }, cwd: core.cwd, variables: all }, 'writes');
      if (!checked.ok) throw new Error(checked.problem);
      const shell = await startCommand(line, { callId, cwd: core.cwd }, undefined, {
        ledger: session.ledger,
        outputFolder: join(session.transcript.folder, 'outputs'),
        removeKeys: core.knownKeys.remove,
        variables: core.settings.variables,
        extraEnv: () => env,
      });
      return shells.addBackground(callId, command, shell, { pattern: { test: isNotBlank }, monitor: name });
    } catch (thrown) {
      const text = `The monitor ${name} could not be started: ${getErrorMessage(thrown)}`;
      await core.bus.emit({ type: 'notice', level: 'warn', topic: 'plugin', text });
      return undefined;
    }
  }

  async function startAll(isDue: (monitor: PluginMonitor) => boolean): Promise<void> {
    const due = listMonitors().filter(({ monitor, key }) => isDue(monitor) && !started.has(key));
    for (const { plugin, monitor, key } of due) started.set(key, start(plugin, monitor));
    await Promise.all(due.map(({ key }) => started.get(key)));
  }

  /** Starts the monitors that every session has and that do not run yet, and stops those of disabled plugins. */
  async function update(): Promise<void> {
    const known = new Set(listMonitors().map(({ key }) => key));
    const removed = [...started].filter(([key]) => !known.has(key));
    for (const [key] of removed) started.delete(key);
    await Promise.all(
      removed.map(async ([, id]) => {
        const found = shells.find((await id) ?? '');
        if (found?.exit === undefined) await found?.shell.stop();
      }),
    );
    await startAll(({ skill }) => skill === undefined);
  }

  return {
    name: 'monitors',
    onEvent({ type }: AgentEvent): void {
      // Plugins may change between two prompts.
      if (type === 'agent_start') void update();
    },
    update,
    /** Starts the monitors that wait for the first use of this skill. */
    startForSkill: (name: string) => startAll(({ skill }) => skill === name),
  };
}

function isNotBlank(line: string): boolean {
  return line.trim() !== '';
}
