import type { Todo } from '../../../contracts/display.ts';
import type { SettingsLayer, SettingsSource } from '../../../contracts/settings.ts';
import type { Hooks } from '../../../hooks/create-hooks.ts';
import type { Memory } from '../../../prompt/memory/memory-files.ts';
import type { Core } from '../../core.ts';

/** Fires what a conversation becomes while it runs: another folder, another model, steps that are planned and done. */
export function fireChanges({ live }: Pick<Core, 'live'>, hooks: Pick<Hooks, 'fireInBackground' | 'has'>): void {
  let before = live.now();
  live.onChange((_, now) => {
    const old = before;
    before = now;
    if (old.cwd !== now.cwd) hooks.fireInBackground('CwdChanged', { old_cwd: old.cwd, new_cwd: now.cwd });
    if (old.model !== now.model)
      hooks.fireInBackground('PostModelSwitch', {
        from_model: old.model,
        to_model: now.model,
        requested_model: now.model,
      });
    for (const directory of now.directories.filter((one) => !old.directories.includes(one)))
      hooks.fireInBackground('DirectoryAdded', { directory, source: 'slash_command' });
    if (old.todos !== now.todos) fireTasks(old.todos, now.todos, hooks);
  });
}

function fireTasks(before: readonly Todo[], after: readonly Todo[], hooks: Pick<Hooks, 'fireInBackground'>): void {
  const known = new Map(before.map((todo) => [todo.content, todo.status]));
  for (const [at, { content, status }] of after.entries()) {
    const task = { task_id: String(at + 1), task_subject: content };
    if (!known.has(content)) hooks.fireInBackground('TaskCreated', task);
    if (status === 'completed' && known.get(content) !== 'completed') hooks.fireInBackground('TaskCompleted', task);
  }
}

const SOURCES: Readonly<Record<SettingsSource, string>> = {
  managed: 'policy_settings',
  flag: 'policy_settings',
  user: 'user_settings',
  project: 'project_settings',
  local: 'local_settings',
};

const TYPES = {
  managed: 'Managed',
  user: 'User',
  project: 'Project',
  rule: 'Project',
  nested: 'Project',
  local: 'Local',
} as const;

/** Looks, when it is called, for settings and instruction files that are new since the last time, and fires them. */
export function createFileMoments(
  { settings }: Pick<Core, 'settings'>,
  hooks: Pick<Hooks, 'fireInBackground' | 'has'>,
  memory: Pick<Memory, 'report'>,
): () => void {
  let layers = texts(settings.loaded().layers);
  const loaded = new Set<string>();
  let isFirst = true;
  return () => {
    const now = texts(settings.loaded().layers);
    for (const [file, { source, text }] of now)
      if (layers.get(file)?.text !== text)
        hooks.fireInBackground('ConfigChange', { source: SOURCES[source], file_path: file });
    layers = now;
    if (!hooks.has('InstructionsLoaded')) return;
    for (const { path, scope, state, leftOut, paths } of memory.report().files) {
      if (state === 'waiting' || leftOut !== undefined || loaded.has(path)) continue;
      loaded.add(path);
      const reason = isFirst ? 'session_start' : paths === undefined ? 'nested_traversal' : 'path_glob_match';
      const globs = paths === undefined ? {} : { globs: [...paths] };
      const fields = { file_path: path, memory_type: TYPES[scope], load_reason: reason, ...globs };
      hooks.fireInBackground('InstructionsLoaded', fields);
    }
    isFirst = false;
  };
}

function texts(layers: readonly SettingsLayer[]) {
  return new Map(layers.map(({ file, source, settings }) => [file, { source, text: JSON.stringify(settings) }]));
}
