import { join } from 'node:path';
import type { Environment } from '../../contracts/environment.ts';
import type { RunOptions } from '../../contracts/face/run-options.ts';
import type { LoadedSettings } from '../../contracts/settings.ts';
import { type Admission, loadExtensions } from '../../extensions/load-extensions.ts';
import { wantedSkills } from '../../extensions/wanted-skills.ts';
import { createFreshness } from '../../lib/files/fresh-files.ts';
import { childVariables } from '../../settings/child-variables.ts';
import { countsSource } from '../../settings/counts-source.ts';
import { limitsOf } from '../../settings/limits.ts';
import { neverLooser } from '../../settings/never-looser.ts';
import { problemLines } from '../../settings/problem-lines.ts';
import type { Bus, ExtensionsNow, SettingsNow } from '../core.ts';
import { enabledPlugins } from './enabled-plugins.ts';
import type { FolderTrust } from './folder-trust.ts';
import { projectFolders } from './project-folders.ts';
import { readSettings } from './read-settings.ts';

const FOLDERS = ['commands', 'skills', 'agents', 'output-styles'];
const SETTINGS = ['settings.json', 'settings.local.json'];

type Given = {
  readonly given: RunOptions;
  readonly environment: Environment;
  readonly cwd: string;
  readonly trust: FolderTrust;
  readonly tell: Bus['tell'];
  /** Which files of the project's extensions may be read, by the settings as they stand. */
  readonly admits: (loaded: () => LoadedSettings) => (path: string) => Admission;
};

/** How a settings file is told of that could not be used as a whole. */
const BROKEN = /^(?:is not valid|could not be read)/;

/** Settings and extensions as they stand in their files: read again once a file changed, asked at every prompt. */
export async function openLiveFiles({
  given,
  environment,
  cwd,
  trust,
  tell,
  admits,
}: Given): Promise<{ readonly settings: SettingsNow; readonly extensions: ExtensionsNow }> {
  const { trusted } = trust;
  const { ouroHome, home } = environment;
  const [, ...above] = projectFolders(cwd, home);
  const counting = trusted ? [cwd, ...above] : [];
  const readLayers = () => readSettings({ ...given, cwd }, environment, trusted, trust.approves);
  const counts = (source: 'user' | 'project') => countsSource(given.settingSources, source);
  const readFiles = async () => {
    const found = await enabledPlugins(ouroHome, loaded.merged, given.pluginDirs ?? []);
    const read = await loadExtensions({
      plugins: found.plugins,
      projectFolders: counts('project') ? counting : [],
      ...(counts('user') ? { own: { ouroHome, home } } : {}),
      agentsFlag: given.agents,
      admits: mayBeRead,
    });
    const approved = await trust.onlyApproved({ ...read, problems: [...read.problems, ...found.problems] });
    return { ...approved, skills: wantedSkills(approved.skills, given.skills) };
  };
  const settingsFiles = createFreshness([
    join(ouroHome, 'settings.json'),
    // What a folder forbids counts in any case.
    ...[cwd, ...above].flatMap((folder) => SETTINGS.map((name) => join(folder, '.claude', name))),
  ]);
  const folders = createFreshness([
    ...FOLDERS.map((name) => join(ouroHome, name)),
    join(home, '.agents/skills'),
    ...counting.flatMap((folder) => [
      ...FOLDERS.map((name) => join(folder, '.claude', name)),
      join(folder, '.agents/skills'),
    ]),
  ]);
  let loaded = await readLayers();
  const mayBeRead = admits(() => loaded);
  let extensions = await readFiles();

  const wasWhole = (file: string) =>
    loaded.layers.some((layer) => layer.file === file) &&
    !loaded.problems.some((problem) => problem.file === file && BROKEN.test(problem.text));

  async function reload(): Promise<void> {
    extensions = await readFiles();
  }

  async function refreshExtensions(): Promise<void> {
    if (await folders.changed()) await reload();
  }

  async function refresh(): Promise<void> {
    const [newSettings] = await Promise.all([settingsFiles.changed(), refreshExtensions()]);
    if (!newSettings) return;
    const next = await readLayers();
    const lines = [...problemLines(next, { problems: [] })];
    // Half a file, as an editor or a merge may leave it, must not switch guards off.
    const isHalf = next.problems.some(({ file, text }) => BROKEN.test(text) && wasWhole(file));
    if (isHalf) lines.push('What counted before goes on counting until that is mended.');
    else loaded = trusted ? next : neverLooser(loaded, next);
    if (lines.length > 0) await tell({ type: 'notice', level: 'warn', topic: 'settings', text: lines.join('\n') });
  }

  const settings: SettingsNow = {
    now: () => loaded.merged,
    loaded: () => loaded,
    limits: () => limitsOf(environment, loaded.merged),
    variables: () => childVariables(environment, loaded.merged),
    refresh,
    approveOwnChange: trust.renew,
  };
  return { settings, extensions: { now: () => extensions, refresh: refreshExtensions, reload } };
}
