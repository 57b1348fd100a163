import { join } from 'node:path';
import type {
  LoadedSettings,
  Settings,
  SettingsLayer,
  SettingsProblem,
  SettingsSource,
} from '../contracts/settings.ts';
import { countsSource } from './counts-source.ts';
import { merge, narrowing, restrained } from './merge.ts';
import { withoutPowers } from './powers.ts';
import { type ReadLayer, readLayer } from './read-layer.ts';

/** Where settings live and what may be looked at. */
export type SettingsPlaces = {
  /** The project's: the working folder, then those around it that belong to the same repository. */
  readonly folders: readonly string[];
  readonly ouroHome: string;
  /** `/etc/ouro`, or a test's stand-in. */
  readonly managedDir: string;
  readonly trusted: boolean;
  /** In a trusted folder: are these the settings that were approved? All are when not said. */
  readonly approves?: (layer: SettingsLayer) => boolean | Promise<boolean>;
  /** Which of user, project and local count; all when not said. */
  readonly sources?: readonly string[];
  /** `--managed-settings`: JSON of whoever starts us, which may only tighten. */
  readonly policy?: string;
  /** `--settings`: a file's path, or JSON. */
  readonly flag?: string;
  /** The text of a file; `undefined` when there is none. Anything else that goes wrong is thrown. */
  readonly readText: (path: string) => Promise<string | undefined>;
  readonly listDir: (path: string) => Promise<readonly string[]>;
  /** A local settings file that is checked in belongs to everybody, so it is nobody's own. */
  readonly isTracked: (path: string) => Promise<boolean>;
};

/** Reads every layer, strongest first. Nothing that is wrong in a file is an exception: it is a sentence. */
export async function loadSettings(places: SettingsPlaces): Promise<LoadedSettings> {
  const { folders, ouroHome } = places;
  const read = await Promise.all([
    ...(await managed(places)),
    ...(places.policy === undefined ? [] : [fromPolicy(places.policy)]),
    ...(places.flag === undefined ? [] : [fromFlag(places.flag, places)]),
    ...folders.flatMap((folder) => [
      ...(countsSource(places.sources, 'local') ? [local(join(folder, '.claude/settings.local.json'), places)] : []),
      ...(countsSource(places.sources, 'project')
        ? [fromFile(join(folder, '.claude/settings.json'), 'project', places)]
        : []),
    ]),
    ...(countsSource(places.sources, 'user') ? [fromFile(join(ouroHome, 'settings.json'), 'user', places)] : []),
  ]);
  const problems: SettingsProblem[] = [];
  const layers: SettingsLayer[] = [];
  for (const one of read) {
    if (one === undefined) continue;
    const approved = (await isApproved(one.layer, places))
      ? { layer: one.layer, problems: [] }
      : withoutPowers(one.layer);
    const tight = restrained(approved.layer);
    const trusted = places.trusted ? { layer: tight.layer, problems: [] } : onlyTightening(tight.layer);
    problems.push(...one.problems, ...approved.problems, ...tight.problems, ...trusted.problems);
    layers.push(trusted.layer);
  }
  return { layers, merged: merge(layers), problems };
}

async function managed(places: SettingsPlaces): Promise<readonly Promise<ReadLayer | undefined>[]> {
  const dropIns = (await places.listDir(join(places.managedDir, 'managed-settings.d'))).filter((name) =>
    name.endsWith('.json'),
  );
  const files = [
    ...dropIns
      .toSorted()
      .toReversed()
      .map((name) => join(places.managedDir, 'managed-settings.d', name)),
    join(places.managedDir, 'managed-settings.json'),
  ];
  return files.map((file) => fromFile(file, 'managed', places));
}

async function fromFile(file: string, source: SettingsSource, places: SettingsPlaces): Promise<ReadLayer | undefined> {
  try {
    const text = await places.readText(file);
    return text === undefined ? undefined : readLayer(text, file, source);
  } catch (thrown) {
    const why = thrown instanceof Error ? thrown.message : String(thrown);
    const layer: SettingsLayer = { source, file, settings: {}, lineOf: () => undefined };
    return { layer, problems: [{ file, source, line: undefined, text: `could not be read: ${why}` }] };
  }
}

/** What forbids, asks or fences in counts; everything else would widen what somebody else has narrowed. */
async function fromPolicy(text: string): Promise<ReadLayer> {
  const { layer, problems } = readLayer(text, '--managed-settings', 'managed');
  const {
    permissions: { deny, ask, disableBypassPermissionsMode, ...looser } = {},
    sandbox,
    ...others
  } = layer.settings;
  const settings: Settings = {
    permissions: {
      ...(deny === undefined ? {} : { deny }),
      ...(ask === undefined ? {} : { ask }),
      ...(disableBypassPermissionsMode === undefined ? {} : { disableBypassPermissionsMode }),
    },
    ...(sandbox === undefined ? {} : { sandbox: narrowing(sandbox) }),
  };
  const dropped = [...Object.keys(looser).map((key) => `permissions.${key}`), ...Object.keys(others)];
  if (dropped.length === 0) return { layer: { ...layer, settings }, problems };
  const words = `may only tighten, so ${dropped.join(', ')} do not count.`;
  const problem = { file: '--managed-settings', source: 'managed', line: undefined, text: words } as const;
  return { layer: { ...layer, settings }, problems: [...problems, problem] };
}

async function fromFlag(flag: string, places: SettingsPlaces): Promise<ReadLayer | undefined> {
  if (flag.trimStart().startsWith('{')) return readLayer(flag, '--settings', 'flag');
  const found = await fromFile(flag, 'flag', places);
  if (found !== undefined) return found;
  const layer: SettingsLayer = { source: 'flag', file: flag, settings: {}, lineOf: () => undefined };
  return {
    layer,
    problems: [{ file: flag, source: 'flag', line: undefined, text: 'does not exist (named by --settings)' }],
  };
}

async function local(file: string, places: SettingsPlaces): Promise<ReadLayer | undefined> {
  const found = await fromFile(file, 'local', places);
  if (found === undefined || !(await places.isTracked(file))) return found;
  const text = 'is checked in to git, so it is not your own. Nothing in it is used.';
  return { layer: { ...found.layer, settings: {} }, problems: [{ file, source: 'local', line: undefined, text }] };
}

async function isApproved(layer: SettingsLayer, { trusted, approves }: SettingsPlaces): Promise<boolean> {
  const isOfFolder = layer.source === 'project' || layer.source === 'local';
  return !isOfFolder || !trusted || approves === undefined || (await approves(layer));
}

/** A folder nobody trusts yet may forbid and ask; nothing else of its settings counts. */
function onlyTightening(layer: SettingsLayer): {
  readonly layer: SettingsLayer;
  readonly problems: readonly SettingsProblem[];
} {
  if (layer.source !== 'project' && layer.source !== 'local') return { layer, problems: [] };
  const { permissions } = layer.settings;
  const tight: Settings = {
    permissions: {
      ...(permissions?.deny === undefined ? {} : { deny: permissions.deny }),
      ...(permissions?.ask === undefined ? {} : { ask: permissions.ask }),
    },
  };
  const { permissions: _, $schema: __, ...others } = layer.settings;
  const looser = [...Object.keys(others), ...(permissions?.allow === undefined ? [] : ['permissions.allow'])];
  if (looser.length === 0) return { layer: { ...layer, settings: tight }, problems: [] };
  const text = `is in a folder that is not trusted yet, so ${looser.join(', ')} do not count. Run "ouro trust" here to trust it.`;
  return {
    layer: { ...layer, settings: tight },
    problems: [{ file: layer.file, source: layer.source, line: undefined, text }],
  };
}
