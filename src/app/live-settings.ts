import { join } from 'node:path';
import type { Environment } from '../contracts/environment.ts';
import type { CliRunOptions } from '../contracts/frontend/cli-run-options.ts';
import type { LiveSettings } from '../contracts/session-core.ts';
import type { LoadedSettings, SettingsProblem } from '../contracts/settings.ts';
import { loadExtensions, type ProjectFileAdmission } from '../extensions/load-extensions.ts';
import { filterSkills } from '../extensions/load-skills.ts';
import { createFileChangeDetector } from '../lib/files/file-change-detector.ts';
import { getSettingsPath } from '../settings/edit-settings.ts';
import { buildChildVariables, resolveTimeoutsAndRetries } from '../settings/effective-environment.ts';
import { loadEnabledPlugins } from '../settings/load-enabled-plugins.ts';
import { formatConfigProblems, isSettingsSourceEnabled } from '../settings/load-settings.ts';
import { keepRestrictions } from '../settings/merge-settings.ts';
import type { CurrentExtensions, EventBus } from './core.ts';
import { listSettingsFolders, readSettings } from './read-settings.ts';
import type { FolderTrust } from './trust/folder-trust.ts';

const EXTENSION_FOLDERS = ['commands', 'skills', 'agents', 'output-styles'];

type LiveSettingsOptions = {
  readonly given: CliRunOptions;
  readonly environment: Environment;
  readonly cwd: string;
  readonly trust: FolderTrust;
  readonly emit: EventBus['emit'];
  /** Decides which extension files of the project may be read under the current settings. */
  readonly canReadExtension: (loaded: () => LoadedSettings) => (path: string) => ProjectFileAdmission;
};

/** Opens settings and extensions, which are reloaded when a file has changed; `refresh` checks that at every prompt. */
export async function openLiveSettings({
  given,
  environment,
  cwd,
  trust,
  emit,
  canReadExtension,
}: LiveSettingsOptions): Promise<{ readonly settings: LiveSettings; readonly extensions: CurrentExtensions }> {
  const { isTrusted } = trust;
  const { ouroHome, home } = environment;
  const [, ...parents] = listSettingsFolders(cwd, home);
  const extensionFolders = isTrusted ? [cwd, ...parents] : [];
  const loadLayers = () => readSettings({ ...given, cwd }, environment, isTrusted, trust.isApproved);
  const isSourceUsed = (source: 'user' | 'project') => isSettingsSourceEnabled(given.settingSources, source);
  const loadExtensionFiles = async () => {
    const enabled = await loadEnabledPlugins(environment, loaded.merged, given.pluginDirs ?? []);
    const read = await loadExtensions({
      plugins: enabled.plugins,
      projectFolders: isSourceUsed('project') ? extensionFolders : [],
      ...(isSourceUsed('user') ? { userFolders: { ouroHome, home } } : {}),
      agentsFlag: given.agents,
      checkFile: mayBeRead,
    });
    const approved = await trust.filterApproved({ ...read, problems: [...read.problems, ...enabled.problems] });
    return { ...approved, skills: filterSkills(approved.skills, given.skills) };
  };
  const settingsFiles = createFileChangeDetector([
    getSettingsPath('user', { ouroHome, cwd }),
    // The deny and ask rules of an untrusted folder apply as well.
    ...[cwd, ...parents].flatMap((folder) =>
      (['project', 'local'] as const).map((scope) => getSettingsPath(scope, { ouroHome, cwd: folder })),
    ),
  ]);
  const extensionFiles = createFileChangeDetector([
    ...EXTENSION_FOLDERS.map((name) => join(ouroHome, name)),
    join(home, '.agents/skills'),
    ...extensionFolders.flatMap((folder) => [
      ...EXTENSION_FOLDERS.map((name) => join(folder, '.claude', name)),
      join(folder, '.agents/skills'),
    ]),
  ]);
  let loaded = await loadLayers();
  const mayBeRead = canReadExtension(() => loaded);
  let extensions = await loadExtensionFiles();

  const wasValid = (file: string) =>
    loaded.layers.some((layer) => layer.file === file) &&
    !loaded.problems.some((problem) => problem.file === file && isWholeFileLost(problem));

  async function reload(): Promise<void> {
    extensions = await loadExtensionFiles();
  }

  async function refreshExtensions(): Promise<void> {
    if (await extensionFiles.hasChanged()) await reload();
  }

  async function refresh(): Promise<void> {
    const [haveSettingsChanged] = await Promise.all([settingsFiles.hasChanged(), refreshExtensions()]);
    if (!haveSettingsChanged) return;
    const next = await loadLayers();
    const lines = [...formatConfigProblems(next, { problems: [] })];
    // A half-written file, as an editor or a merge may leave it, must not disable restrictions.
    const isBroken = next.problems.some((problem) => isWholeFileLost(problem) && wasValid(problem.file));
    if (isBroken) lines.push('The previous settings stay in effect until this is fixed.');
    else loaded = isTrusted ? next : keepRestrictions(loaded, next);
    if (lines.length > 0) await emit({ type: 'notice', level: 'warn', topic: 'settings', text: lines.join('\n') });
  }

  const settings: LiveSettings = {
    current: () => loaded.merged,
    loaded: () => loaded,
    limits: () => resolveTimeoutsAndRetries(environment, loaded.merged),
    variables: () => buildChildVariables(environment, loaded.merged),
    refresh,
    approveOwnChange: trust.renewApproval,
  };
  // Otherwise an edit right after the start would be taken for the initial state.
  await settingsFiles.whenReady();
  return { settings, extensions: { current: () => extensions, refresh: refreshExtensions, reload } };
}

/** Returns whether a settings file could not be used as a whole. */
function isWholeFileLost({ code }: SettingsProblem): boolean {
  return code === 'broken_file' || code === 'unreadable_file';
}
