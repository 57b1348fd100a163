import { dirname, join } from 'node:path';
import type { Environment } from '../../contracts/environment.ts';
import type { PromptTemplate, SubAgentDefinition } from '../../contracts/extension.ts';
import type { TrustFingerprints } from '../../contracts/frontend/first-run.ts';
import type { SettingsLayer } from '../../contracts/settings.ts';
import { readFileOrPipe } from '../../lib/files/read-regular-file.ts';
import type { ProgramFile } from '../../lib/programs/program-files.ts';
import { validateHooks } from '../../settings/drop-invalid-settings.ts';
import { getSettingsPath } from '../../settings/edit-settings.ts';
import { parseSettingsLayer } from '../../settings/parse-settings-layer.ts';
import { encodePrograms } from '../../settings/program-approvals.ts';
import { fingerprintSettingsGrants, readProjectServers } from '../../settings/settings-needing-approval.ts';
import { openTrustStore, type TrustStore } from '../../settings/trust-store.ts';
import { listSettingsFolders } from '../read-settings.ts';
import { listConfiguredPrograms } from './configured-programs.ts';
import { fingerprintExtensionGrants } from './extension-grants.ts';
import {
  type ExternalInstructionFile,
  encodeExternalFiles,
  readFolderContentToApprove,
} from './external-instructions.ts';

/** The files of a folder that matter for trusting it, and their fingerprints. */
type FolderFiles = {
  readonly marks: TrustFingerprints;
  /** Layers of the folder, then those of its parent folders. */
  readonly layers: readonly SettingsLayer[];
  readonly above: readonly SettingsLayer[];
  /** Commands and skills. */
  readonly callables: readonly PromptTemplate[];
  readonly agents: readonly SubAgentDefinition[];
  readonly outside: readonly ExternalInstructionFile[];
  readonly programs: readonly ProgramFile[];
  /** The user has not said whether language servers of projects are used. */
  readonly isOffered: boolean;
};

const SETTINGS_FILES = {
  project: '.claude/settings.json',
  local: '.claude/settings.local.json',
} as const;

/** Reads the files of a folder to show and fingerprint them; nothing is applied. */
export async function readFolderFiles(
  realDir: string,
  environment: Environment,
  depth: 'top' | 'below',
): Promise<FolderFiles> {
  const { home, ouroHome } = environment;
  const readLayer = async (file: string, source: SettingsLayer['source']) => {
    const text = await readFileOrPipe(file).catch(() => undefined);
    return text === undefined ? [] : [parseSettingsLayer(text, file, source).layer];
  };
  const readSource = (folder: string, source: keyof typeof SETTINGS_FILES) =>
    readLayer(join(folder, SETTINGS_FILES[source]), source);
  const readLayers = async (folder: string) =>
    (await Promise.all([readSource(folder, 'project'), readSource(folder, 'local')])).flat();
  const [folder, ...parents] = listSettingsFolders(realDir, home);
  const userFile = getSettingsPath('user', { ouroHome, cwd: '' });
  const [store, user, mcpServers, layers, above, { callables, agents, externalFiles }] = await Promise.all([
    openTrustStore(ouroHome, home),
    readLayer(userFile, 'user'),
    readProjectServers(realDir),
    readLayers(folder),
    Promise.all(parents.map(readLayers)).then((all) => all.flat()),
    readFolderContentToApprove(realDir, home, depth),
  ]);
  const hooked = [...callables, ...agents].flatMap(({ hooks }) => (hooks === undefined ? [] : [validateHooks(hooks)]));
  const configured = [...user, ...layers, ...above].map(({ settings }) => settings);
  const programs = listConfiguredPrograms(
    { sources: [...configured, ...hooked, { mcpServers }], known: (await store.readMarks(realDir)).programs },
    realDir,
    environment,
  );
  const getMark = (wanted: string) =>
    fingerprintSettingsGrants(layers.find(({ source }) => source === wanted)?.settings ?? {});
  const aboveMarks = above.flatMap(({ file, settings }) => {
    const mark = fingerprintSettingsGrants(settings);
    return mark === 'nothing' ? [] : [`${file} ${mark}`];
  });
  return {
    marks: {
      project: getMark('project'),
      local: getMark('local'),
      commands: fingerprintExtensionGrants(callables, agents),
      instructions: encodeExternalFiles(externalFiles),
      above: aboveMarks.length === 0 ? 'nothing' : aboveMarks.join('\n'),
      programs: encodePrograms(programs),
    },
    layers: [...layers, ...above],
    above,
    callables,
    agents,
    outside: externalFiles,
    programs,
    isOffered: user.every(({ settings }) => settings.projectPrograms === undefined),
  };
}

/**
 * Returns whether the settings of the parent folders are approved: with this folder as they are, or because the parent
 * folders are trusted themselves. Trusting this folder without seeing them never approved them.
 */
export async function areParentSettingsApproved(
  { marks, above }: FolderFiles,
  known: TrustFingerprints,
  store: TrustStore,
): Promise<boolean> {
  return known.above === marks.above || (await areTrusted(above, store));
}

/** Returns whether the folders of these layers are themselves trusted with their current settings. */
async function areTrusted(layers: readonly SettingsLayer[], store: TrustStore): Promise<boolean> {
  const answers = layers.map(async ({ file, source, settings }) => {
    const mark = fingerprintSettingsGrants(settings);
    const folder = dirname(dirname(file));
    if (mark === 'nothing') return true;
    const known = await store.readMarks(folder);
    return store.isTrusted(folder) && (source === 'project' ? known.project : known.local) === mark;
  });
  return (await Promise.all(answers)).every((isTrusted) => isTrusted);
}
