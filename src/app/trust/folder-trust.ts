import { createHash } from 'node:crypto';
import { dirname, join } from 'node:path';
import type { Environment } from '../../contracts/environment.ts';
import type { PromptTemplate, SubAgentDefinition } from '../../contracts/extension.ts';
import type {
  ApprovedProjectPart,
  TrustEffect,
  TrustFingerprints,
  TrustQuestion,
} from '../../contracts/frontend/first-run.ts';
import type { SettingsLayer } from '../../contracts/settings.ts';
import type { Extensions } from '../../extensions/load-extensions.ts';
import { readFileOrPipe } from '../../lib/files/read-regular-file.ts';
import type { ProgramFile } from '../../lib/programs/program-files.ts';
import { validateHooks } from '../../settings/drop-invalid-settings.ts';
import { getSettingsPath } from '../../settings/edit-settings.ts';
import { parseSettingsLayer } from '../../settings/parse-settings-layer.ts';
import { areProgramsApproved, createProgramApprovals, encodePrograms } from '../../settings/program-approvals.ts';
import {
  describeSettingsEffects,
  fingerprintSettingsGrants,
  listTrustedContent,
  readProjectServers,
} from '../../settings/settings-needing-approval.ts';
import { openTrustStore, type TrustStore } from '../../settings/trust-store.ts';
import { listSettingsFolders } from '../read-settings.ts';
import { describePrograms, listConfiguredPrograms } from './configured-programs.ts';
import {
  type ExternalInstructionFile,
  encodeExternalFiles,
  isExternalFileAccepted,
  readFolderContentToApprove,
} from './external-instructions.ts';

/** The trust in one folder during one run. */
export type FolderTrust = Awaited<ReturnType<typeof loadFolderTrust>>;

const SETTINGS_FILES = {
  project: '.claude/settings.json',
  local: '.claude/settings.local.json',
} as const;

/** Loads the trust in a folder. `this-run` trusts it as it is, without storing anything. */
export async function loadFolderTrust(realDir: string, environment: Environment, override: 'this-run' | undefined) {
  const store = await openTrustStore(environment.ouroHome, environment.home);
  const isTrusted = override === 'this-run' || store.isTrusted(realDir);
  const storeProblems = store.problem === undefined ? [] : [{ path: 'Trusted folders:', text: store.problem }];
  const { instructions: acceptedFiles, programs: knownPrograms } = isTrusted ? await store.readMarks(realDir) : {};
  const startedAtMs = Date.now();
  if (isTrusted && override === undefined && knownPrograms === undefined) {
    const { marks } = await readFolder(realDir, environment, 'top');
    // A mark that could not be stored is taken again at the next start.
    await store.approve(realDir, { programs: marks.programs ?? 'nothing' }).catch(() => undefined);
  }
  const refusedSources = new Set<string>();

  async function isApproved(source: ApprovedProjectPart, mark: string): Promise<boolean> {
    if (override === 'this-run' || mark === 'nothing') return true;
    const known = (await store.readMarks(realDir))[source];
    if (known === mark) return true;
    if (known === undefined) {
      // Not awaited: a fingerprint that could not be stored is seen again at the next start.
      void store.approve(realDir, { [source]: mark }).catch(() => undefined);
      return true;
    }
    refusedSources.add(source);
    return false;
  }

  return {
    isTrusted,
    programs: createProgramApprovals({ store, realDir, override, mark: knownPrograms, startedAtMs }),
    /** Returns whether the user accepted this external file, which the folder's instructions include. */
    acceptsOutside: (realPath: string): boolean =>
      override === 'this-run' || isExternalFileAccepted(acceptedFiles, realPath),
    /** Returns whether settings are approved as they are. Settings first seen below a trusted folder become approved. */
    async isApproved({ source, settings, file }: SettingsLayer): Promise<boolean> {
      if (source !== 'project' && source !== 'local') return true;
      if (dirname(dirname(file)) === realDir) return isApproved(source, fingerprintSettingsGrants(settings));
      if (override === 'this-run' || fingerprintSettingsGrants(settings) === 'nothing') return true;
      const { marks, above } = await readFolder(realDir, environment, 'top');
      return (await store.readMarks(realDir)).above === marks.above || (await areTrusted(above, store));
    },
    /** Removes grants and hooks of commands, skills and agents that are not approved as they are. */
    async filterApproved(extensions: Extensions): Promise<Extensions> {
      const { commands, skills, agents } = extensions;
      const problems = [...extensions.problems, ...storeProblems];
      if (await isApproved('commands', fingerprintExtensions([...commands, ...skills], agents)))
        return { ...extensions, problems };
      const path = join(realDir, '.claude');
      const text =
        'has changed since this folder was trusted, so its commands, skills and sub-agents lose their allowed tools and hooks. Review the changes with "ouro trust --show", approve them with "ouro trust".';
      return {
        ...extensions,
        commands: commands.map(removeGrants),
        skills: skills.map(removeGrants),
        agents: agents.map(removeHooks),
        problems: [...problems, { path, text }],
      };
    },
    /** Approves the current files again after ouro itself changed an approved file. */
    async renewApproval() {
      if (override === 'this-run' || !store.isTrusted(realDir)) return;
      const { marks } = await readFolder(realDir, environment, 'top');
      // External files, settings of parent folders and programs are approved only by a user who was shown them.
      const shownSources = ['instructions', 'above', 'programs'];
      const kept = Object.entries(marks).filter(
        ([source]) => !shownSources.includes(source) && !refusedSources.has(source),
      );
      await store.approve(realDir, Object.fromEntries(kept));
    },
  };
}

/**
 * Builds the trust question for a folder; `undefined` when it is trusted as it is. A start does not search the
 * subfolders of a trusted folder: new files there are excluded until a session comes across them.
 */
export async function buildTrustQuestion(
  realDir: string,
  environment: Environment,
  moment: 'start' | 'asked' = 'asked',
): Promise<{ readonly question: TrustQuestion; readonly store: TrustStore } | undefined> {
  const store = await openTrustStore(environment.ouroHome, environment.home);
  const refusal = store.getRefusal(realDir);
  // A folder that can never be trusted is not searched: it may be a whole disk.
  const depth = moment === 'start' || refusal !== undefined ? 'top' : 'below';
  const { marks, layers, callables, agents, outside, above, programs, isOffered } = await readFolder(
    realDir,
    environment,
    depth,
  );
  const known = await store.readMarks(realDir);
  const arePrograms = areProgramsApproved(known.programs, programs);
  const isSame = (source: ApprovedProjectPart) =>
    marks[source] === 'nothing' || known[source] === undefined || known[source] === marks[source];
  const areAccepted = outside.every(({ realPath }) => isExternalFileAccepted(known.instructions, realPath));
  // Trusting this folder never approved the settings of its parent folders.
  const isAboveSame = marks.above === 'nothing' || known.above === marks.above || (await areTrusted(above, store));
  const isUnchanged =
    isSame('project') && isSame('local') && isSame('commands') && areAccepted && isAboveSame && arePrograms;
  const state = store.isTrusted(realDir) ? (isUnchanged ? 'trusted' : 'changed') : 'new';
  if (state === 'trusted') return undefined;
  if (moment === 'start') return buildTrustQuestion(realDir, environment);
  const effects = [
    ...layers.flatMap(describeSettingsEffects),
    ...callables.flatMap(describeCallable),
    ...agents.flatMap(describeHooks),
    ...(await listTrustedContent(realDir)),
    ...outside.map(describeExternalFile),
    ...describePrograms(programs, realDir, { isOffered }),
  ];
  const question = { dir: realDir, state, effects, marks, ...(refusal === undefined ? {} : { refusal }) } as const;
  return { question, store };
}

/** Returns whether fingerprints are the same as those shown; an absent one equals an empty one. */
export function areTrustFingerprintsEqual(shown: TrustFingerprints, now: TrustFingerprints): boolean {
  const sources = Object.keys({ ...shown, ...now }) as readonly ApprovedProjectPart[];
  return sources.every((source) => (shown[source] ?? 'nothing') === (now[source] ?? 'nothing'));
}

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

/** Reads the files of a folder to show and fingerprint them; nothing is applied. */
async function readFolder(realDir: string, environment: Environment, depth: 'top' | 'below'): Promise<FolderFiles> {
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
      commands: fingerprintExtensions(callables, agents),
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

function removeGrants<Kind extends PromptTemplate>(callable: Kind): Kind {
  return callable.source === 'project' ? { ...removeHooks(callable), allowedTools: [] } : callable;
}

function removeHooks<Carrier extends Pick<PromptTemplate, 'source' | 'hooks'>>(carrier: Carrier): Carrier {
  return carrier.source === 'project' && carrier.hooks !== undefined ? { ...carrier, hooks: {} } : carrier;
}

/** Computes a fingerprint of what the project's commands, skills and sub-agents allow and run. */
function fingerprintExtensions(callables: readonly PromptTemplate[], agents: readonly SubAgentDefinition[]): string {
  const granting = callables
    .filter(
      ({ source, allowedTools, hooks }) => source === 'project' && (allowedTools.length > 0 || hooks !== undefined),
    )
    .map(({ name, allowedTools, body, hooks }) => ({ name, allowedTools, body, hooks }));
  const hooked = agents
    .filter(({ source, hooks }) => source === 'project' && hooks !== undefined)
    .map(({ name, hooks }) => ({ name, hooks }));
  const all = [...granting, ...hooked];
  if (all.length === 0) return 'nothing';
  return createHash('sha256').update(JSON.stringify(all)).digest('hex');
}

function describeCallable(callable: PromptTemplate): readonly TrustEffect[] {
  const { name, allowedTools, path } = callable;
  const text = `/${name} may run ${allowedTools.join(', ')} without asking`;
  const grants: readonly TrustEffect[] = allowedTools.length === 0 ? [] : [{ kind: 'command', text, file: path }];
  return [...grants, ...describeHooks(callable)];
}

/** Describes the hooks in a file's front matter in the same way as those of settings. */
function describeHooks({
  name,
  hooks,
  path: file = name,
}: Pick<SubAgentDefinition, 'name' | 'hooks' | 'path'>): readonly TrustEffect[] {
  if (hooks === undefined) return [];
  const effects = describeSettingsEffects({
    source: 'project',
    file,
    settings: { hooks: validateHooks(hooks).hooks },
    lineOf: () => undefined,
  });
  return effects.map((effect) => ({ ...effect, text: `while ${name} is active, ${effect.text}` }));
}

function describeExternalFile({ realPath, from }: ExternalInstructionFile): TrustEffect {
  const label = `${realPath}, outside of this folder`;
  return { kind: 'instructions', text: `${label}, is sent to the model`, label, file: from };
}
