import { join } from 'node:path';
import type { SettingsSource } from '../contracts/permission.ts';
import type { LoadedSettings, Settings, SettingsLayer, SettingsProblem } from '../contracts/settings.ts';
import { omitUndefined } from '../lib/json.ts';
import { getSettingsPath } from './edit-settings.ts';
import { mergeSettingsLayers } from './merge-settings.ts';
import { type ParsedSettingsLayer, parseSettingsLayer } from './parse-settings-layer.ts';
import { pickSandboxRestrictions, restrictProjectLayer } from './restrict-project-layer.ts';
import { dropSettingsGrants } from './settings-needing-approval.ts';

/** The locations of settings, the sources in use, and the file system access. */
export type LoadSettingsOptions = {
  /** Folders of the project: the working folder, then its parents up to the repository root. */
  readonly folders: readonly string[];
  readonly ouroHome: string;
  /** Folder of the managed settings, normally `/etc/ouro`. */
  readonly managedDir: string;
  readonly trusted: boolean;
  /** Returns whether the settings of a trusted folder are approved as they are; by default all are. */
  readonly approves?: (layer: SettingsLayer) => boolean | Promise<boolean>;
  /** Sources in use among user, project and local; by default all. */
  readonly sources?: readonly string[];
  /** Value of `--managed-settings`: JSON from the SDK host, which may only tighten settings. */
  readonly policy?: string;
  /** Value of `--settings`: a path or JSON. */
  readonly flag?: string;
  /** Returns the text of a file, or `undefined` when it does not exist; throws on other failures. */
  readonly readText: (path: string) => Promise<string | undefined>;
  readonly listDir: (path: string) => Promise<readonly string[]>;
  /** Returns whether a file is committed to git; a committed local settings file is not the user's own. */
  readonly isTracked: (path: string) => Promise<boolean>;
};

/** Loads all layers, strongest first. Invalid files never throw; they are reported as problems. */
export async function loadSettings(options: LoadSettingsOptions): Promise<LoadedSettings> {
  const { folders, ouroHome } = options;
  const results = await Promise.all([
    ...(await loadManaged(options)),
    ...(options.policy === undefined ? [] : [parsePolicy(options.policy)]),
    ...(options.flag === undefined ? [] : [loadFlag(options.flag, options)]),
    ...folders.flatMap((folder) => [
      ...(isSettingsSourceEnabled(options.sources, 'local')
        ? [loadLocal(getSettingsPath('local', { ouroHome, cwd: folder }), options)]
        : []),
      ...(isSettingsSourceEnabled(options.sources, 'project')
        ? [loadFile(getSettingsPath('project', { ouroHome, cwd: folder }), 'project', options)]
        : []),
    ]),
    ...(isSettingsSourceEnabled(options.sources, 'user')
      ? [loadFile(getSettingsPath('user', { ouroHome, cwd: '' }), 'user', options)]
      : []),
  ]);
  const problems: SettingsProblem[] = [];
  const layers: SettingsLayer[] = [];
  const userVariables = results.flatMap((result) =>
    result === undefined || isFromProject(result.layer) ? [] : (result.layer.settings.projectVariables ?? []),
  );
  for (const result of results) {
    if (result === undefined) continue;
    const approved = (await isApproved(result.layer, options))
      ? { layer: result.layer, problems: [] }
      : dropSettingsGrants(result.layer);
    const restricted = restrictProjectLayer(approved.layer, userVariables);
    const trusted = options.trusted ? { layer: restricted.layer, problems: [] } : keepDenyAndAsk(restricted.layer);
    problems.push(...result.problems, ...approved.problems, ...restricted.problems, ...trusted.problems);
    layers.push(trusted.layer);
  }
  return { layers, merged: mergeSettingsLayers(layers), problems };
}

const isFromProject = ({ source }: SettingsLayer) => source === 'project' || source === 'local';

async function loadManaged(options: LoadSettingsOptions): Promise<readonly Promise<ParsedSettingsLayer | undefined>[]> {
  const dropIns = (await options.listDir(join(options.managedDir, 'managed-settings.d'))).filter((name) =>
    name.endsWith('.json'),
  );
  const files = [
    ...dropIns
      .toSorted()
      .toReversed()
      .map((name) => join(options.managedDir, 'managed-settings.d', name)),
    join(options.managedDir, 'managed-settings.json'),
  ];
  return files.map((file) => loadFile(file, 'managed', options));
}

async function loadFile(
  file: string,
  source: SettingsSource,
  options: LoadSettingsOptions,
): Promise<ParsedSettingsLayer | undefined> {
  try {
    const text = await options.readText(file);
    return text === undefined ? undefined : parseSettingsLayer(text, file, source);
  } catch (thrown) {
    const why = thrown instanceof Error ? thrown.message : String(thrown);
    const layer: SettingsLayer = { source, file, settings: {}, lineOf: () => undefined };
    return {
      layer,
      problems: [{ file, source, line: undefined, text: `could not be read: ${why}`, code: 'unreadable_file' }],
    };
  }
}

/** Parses `--managed-settings`, keeping only keys that tighten permissions or the sandbox. */
async function parsePolicy(text: string): Promise<ParsedSettingsLayer> {
  const { layer, problems } = parseSettingsLayer(text, '--managed-settings', 'managed');
  const {
    permissions: { deny, ask, disableBypassPermissionsMode, ...ignored } = {},
    sandbox,
    ...others
  } = layer.settings;
  const settings: Settings = {
    permissions: {
      ...omitUndefined({ deny, ask, disableBypassPermissionsMode }),
    },
    ...(sandbox === undefined ? {} : { sandbox: pickSandboxRestrictions(sandbox) }),
  };
  const dropped = [...Object.keys(ignored).map((key) => `permissions.${key}`), ...Object.keys(others)];
  if (dropped.length === 0) return { layer: { ...layer, settings }, problems };
  const message = `may only tighten settings, so these keys are ignored: ${dropped.join(', ')}.`;
  const problem = { file: '--managed-settings', source: 'managed', line: undefined, text: message } as const;
  return { layer: { ...layer, settings }, problems: [...problems, problem] };
}

async function loadFlag(flag: string, options: LoadSettingsOptions): Promise<ParsedSettingsLayer | undefined> {
  if (flag.trimStart().startsWith('{')) return parseSettingsLayer(flag, '--settings', 'flag');
  const found = await loadFile(flag, 'flag', options);
  if (found !== undefined) return found;
  const layer: SettingsLayer = { source: 'flag', file: flag, settings: {}, lineOf: () => undefined };
  return {
    layer,
    problems: [{ file: flag, source: 'flag', line: undefined, text: 'does not exist (given by --settings)' }],
  };
}

async function loadLocal(file: string, options: LoadSettingsOptions): Promise<ParsedSettingsLayer | undefined> {
  const found = await loadFile(file, 'local', options);
  if (found === undefined || !(await options.isTracked(file))) return found;
  const text = 'is committed to git, so it is not treated as your own. The file is ignored.';
  return { layer: { ...found.layer, settings: {} }, problems: [{ file, source: 'local', line: undefined, text }] };
}

async function isApproved(layer: SettingsLayer, { trusted, approves }: LoadSettingsOptions): Promise<boolean> {
  const isOfFolder = isFromProject(layer);
  return !isOfFolder || !trusted || approves === undefined || (await approves(layer));
}

/** Keeps only the deny and ask rules of a folder that is not trusted. */
function keepDenyAndAsk(layer: SettingsLayer): {
  readonly layer: SettingsLayer;
  readonly problems: readonly SettingsProblem[];
} {
  if (!isFromProject(layer)) return { layer, problems: [] };
  const { permissions } = layer.settings;
  const restricted: Settings = {
    permissions: {
      ...(permissions?.deny === undefined ? {} : { deny: permissions.deny }),
      ...(permissions?.ask === undefined ? {} : { ask: permissions.ask }),
    },
  };
  const { permissions: _, $schema: __, ...others } = layer.settings;
  const ignored = [...Object.keys(others), ...(permissions?.allow === undefined ? [] : ['permissions.allow'])];
  if (ignored.length === 0) return { layer: { ...layer, settings: restricted }, problems: [] };
  const text = `is in a folder that is not trusted yet, so these keys are ignored: ${ignored.join(', ')}. Run "ouro trust" to trust the folder.`;
  return {
    layer: { ...layer, settings: restricted },
    problems: [{ file: layer.file, source: layer.source, line: undefined, text, code: 'not_trusted' }],
  };
}

/** A source of settings, instructions, servers and extensions that can be excluded from a run. */
export type SelectableSettingsSource = 'user' | 'project' | 'local';

/** Returns whether a source is used in this run; without a list, all are. */
export function isSettingsSourceEnabled(
  sources: readonly string[] | undefined,
  source: SelectableSettingsSource,
): boolean {
  return sources === undefined || sources.includes(source);
}

/** A problem in a command, agent, skill or style file. */
type FileProblem = { readonly path: string; readonly line?: number | undefined; readonly text: string };

/** Formats the problems of settings and extensions, each with its file and line. */
export function formatConfigProblems(
  { problems }: { readonly problems: readonly SettingsProblem[] },
  extensions: { readonly problems: readonly FileProblem[] },
): readonly string[] {
  const formatLocation = (file: string, line: number | undefined) => (line === undefined ? file : `${file}:${line}`);
  return [
    ...problems.map(({ file, line, text }) => `${formatLocation(file, line)} ${text}`),
    ...extensions.problems.map(({ path, line, text }) => `${formatLocation(path, line)} ${text}`),
  ];
}
