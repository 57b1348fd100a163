import type { Todo } from '../contracts/display.ts';
import type { Feature } from '../contracts/feature.ts';
import type { SettingsSource } from '../contracts/permission.ts';
import type { LiveSessionState } from '../contracts/session-core.ts';
import type { LoadedSettings, SettingsLayer } from '../contracts/settings.ts';
import type { SessionMemory } from '../prompt/memory/session-memory-files.ts';
import type { Hooks } from './create-hooks.ts';

/** Subscribes hooks to changes of the running session: its folder, its model, its directories and its tasks. */
export function subscribeSessionChangeHooks({ live }: { readonly live: LiveSessionState }, hooks: Hooks): void {
  let previous = live.current();
  live.onChange((_, now) => {
    const old = previous;
    previous = now;
    if (old.cwd !== now.cwd) hooks.fireInBackground('CwdChanged', { old_cwd: old.cwd, new_cwd: now.cwd });
    if (old.model !== now.model)
      hooks.fireInBackground('PostModelSwitch', {
        from_model: old.model,
        to_model: now.model,
        requested_model: now.model,
      });
    for (const directory of now.directories.filter((path) => !old.directories.includes(path)))
      hooks.fireInBackground('DirectoryAdded', { directory, source: 'slash_command' });
    if (old.todos !== now.todos) fireTasks(old.todos, now.todos, hooks);
  });
}

function fireTasks(before: readonly Todo[], after: readonly Todo[], hooks: Hooks): void {
  const oldStatuses = new Map(before.map((todo) => [todo.content, todo.status]));
  for (const [index, { content, status }] of after.entries()) {
    const task = { task_id: String(index + 1), task_subject: content };
    if (!oldStatuses.has(content)) hooks.fireInBackground('TaskCreated', task);
    if (status === 'completed' && oldStatuses.get(content) !== 'completed')
      hooks.fireInBackground('TaskCompleted', task);
  }
}

const CONFIG_SOURCES: Readonly<Record<SettingsSource, string>> = {
  managed: 'policy_settings',
  flag: 'policy_settings',
  user: 'user_settings',
  project: 'project_settings',
  local: 'local_settings',
};

const MEMORY_TYPES = {
  managed: 'Managed',
  user: 'User',
  project: 'Project',
  rule: 'Project',
  nested: 'Project',
  local: 'Local',
} as const;

/** Creates the feature that fires ConfigChange and InstructionsLoaded for the files that are new with a prompt. */
export function createConfigChangeHooks(
  { settings }: { readonly settings: { loaded(): LoadedSettings } },
  hooks: Hooks,
  memory: SessionMemory,
): Feature {
  let layers = mapLayers(settings.loaded().layers);
  const reported = new Set<string>();
  let isFirst = true;
  function check(): void {
    const current = mapLayers(settings.loaded().layers);
    for (const [file, { source, text }] of current)
      if (layers.get(file)?.text !== text)
        hooks.fireInBackground('ConfigChange', { source: CONFIG_SOURCES[source], file_path: file });
    layers = current;
    if (!hooks.has('InstructionsLoaded')) return;
    for (const { path, scope, state, excludedReason, paths } of memory.report().files) {
      if (state === 'waiting' || excludedReason !== undefined || reported.has(path)) continue;
      reported.add(path);
      const reason = isFirst ? 'session_start' : paths === undefined ? 'nested_traversal' : 'path_glob_match';
      const globs = paths === undefined ? {} : { globs: [...paths] };
      const fields = { file_path: path, memory_type: MEMORY_TYPES[scope], load_reason: reason, ...globs };
      hooks.fireInBackground('InstructionsLoaded', fields);
    }
    isFirst = false;
  }

  return {
    name: 'config changes',
    async onPrompt() {
      check();
      return { kind: 'go' };
    },
  };
}

/** Maps each settings file to its source and content. */
function mapLayers(layers: readonly SettingsLayer[]) {
  return new Map(layers.map(({ file, source, settings }) => [file, { source, text: JSON.stringify(settings) }]));
}
