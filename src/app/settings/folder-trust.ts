import { createHash } from 'node:crypto';
import { join } from 'node:path';
import type { Environment } from '../../contracts/environment.ts';
import type { CustomCommand } from '../../contracts/extension.ts';
import type { ApprovedSource, TrustEffect, TrustQuestion } from '../../contracts/face/trust.ts';
import type { SettingsLayer } from '../../contracts/settings.ts';
import type { Extensions } from '../../extensions/load-extensions.ts';
import { readGiven } from '../../lib/files/read-regular.ts';
import { instructionEffects } from '../../settings/instruction-effects.ts';
import { effectsOf, powersMark } from '../../settings/powers.ts';
import { readLayer } from '../../settings/read-layer.ts';
import { type Marks, openTrust, type TrustStore } from '../../settings/trust.ts';
import { isAccepted, type OutsideFile, outsideMark, readBrought } from './outside-instructions.ts';

/** The trust of one folder, for one run. */
export type FolderTrust = {
  readonly trusted: boolean;
  /** Was this file shown as one that instructions bring in from outside, and accepted? */
  acceptsOutside(realPath: string): boolean;
  /** Are these the settings that were approved? What is first met below a trusted folder counts, and is kept. */
  approves(layer: SettingsLayer): Promise<boolean>;
  /** The same without allowances of commands that were not approved as they are now. */
  onlyApproved(extensions: Extensions): Promise<Extensions>;
  /** Our own change of a file that was approved stays approved. */
  renew(): Promise<void>;
};

const FILES = {
  project: '.claude/settings.json',
  local: '.claude/settings.local.json',
} as const;

/** Looks up what the user said about this folder. `this-run` trusts it as it is, and keeps nothing. */
export async function folderTrust(
  realDir: string,
  environment: Environment,
  given: 'this-run' | undefined,
): Promise<FolderTrust> {
  const store = await openTrust(environment.ouroHome, environment.home);
  const trusted = given === 'this-run' || store.isTrusted(realDir);
  const damage = store.problem === undefined ? [] : [{ path: 'Trust of folders:', text: store.problem }];
  const accepted = trusted ? (await store.marks(realDir)).instructions : undefined;
  const refused = new Set<string>();

  async function isApproved(source: ApprovedSource, mark: string): Promise<boolean> {
    if (given === 'this-run' || mark === 'nothing') return true;
    const known = (await store.marks(realDir))[source];
    if (known === mark) return true;
    if (known === undefined) {
      // Nobody waits: a mark that could not be kept is met again at the next start.
      void store.approve(realDir, { [source]: mark }).catch(() => undefined);
      return true;
    }
    refused.add(source);
    return false;
  }

  return {
    trusted,
    acceptsOutside: (realPath) => given === 'this-run' || isAccepted(accepted, realPath),
    approves: async ({ source, settings }) =>
      (source !== 'project' && source !== 'local') || isApproved(source, powersMark(settings)),
    async onlyApproved(extensions) {
      const { commands } = extensions;
      const problems = [...extensions.problems, ...damage];
      if (await isApproved('commands', commandsMark(commands))) return { ...extensions, problems };
      const path = join(realDir, '.claude/commands');
      const text =
        'has changed since this folder was trusted, so what its commands allow asks. Look at it with "ouro trust --show", approve it with "ouro trust".';
      return {
        ...extensions,
        commands: commands.map((command) =>
          command.source === 'project' ? { ...command, allowedTools: [] } : command,
        ),
        problems: [...problems, { path, text }],
      };
    },
    async renew() {
      if (given === 'this-run' || !store.isTrusted(realDir)) return;
      const { marks } = await readFolder(realDir, environment.home);
      // What instructions bring in from outside is accepted by a person who saw it, never along with our own change.
      const kept = Object.entries(marks).filter(([source]) => source !== 'instructions' && !refused.has(source));
      await store.approve(realDir, Object.fromEntries(kept));
    },
  };
}

/** What a person must be asked about this folder; `undefined` when it is trusted as it stands. */
export async function trustQuestion(
  realDir: string,
  environment: Environment,
): Promise<{ readonly question: TrustQuestion; readonly store: TrustStore; readonly marks: Marks } | undefined> {
  const store = await openTrust(environment.ouroHome, environment.home);
  const { marks, layers, commands, outside } = await readFolder(realDir, environment.home);
  const known = await store.marks(realDir);
  const isSame = (source: ApprovedSource) =>
    marks[source] === 'nothing' || known[source] === undefined || known[source] === marks[source];
  const areAccepted = outside.every(({ realPath }) => isAccepted(known.instructions, realPath));
  const isUnchanged = isSame('project') && isSame('local') && isSame('commands') && areAccepted;
  const state = store.isTrusted(realDir) ? (isUnchanged ? 'trusted' : 'changed') : 'new';
  if (state === 'trusted') return undefined;
  const effects = [
    ...layers.flatMap(effectsOf),
    ...commands.map(commandEffect),
    ...(await instructionEffects(realDir)),
    ...outside.map(outsideEffect),
  ];
  const refusal = store.refusal(realDir);
  return { question: { dir: realDir, state, effects, ...(refusal === undefined ? {} : { refusal }) }, store, marks };
}

type FolderFiles = {
  readonly marks: Marks;
  readonly layers: readonly SettingsLayer[];
  /** Commands that allow something. */
  readonly commands: readonly CustomCommand[];
  readonly outside: readonly OutsideFile[];
};

/** The files of a folder as data: read to be shown and fingerprinted, never applied here. */
async function readFolder(realDir: string, home: string): Promise<FolderFiles> {
  const read = async (source: keyof typeof FILES) => {
    const file = join(realDir, FILES[source]);
    const text = await readGiven(file).catch(() => undefined);
    return text === undefined ? undefined : readLayer(text, file, source).layer;
  };
  const [project, local, { commands, outside }] = await Promise.all([
    read('project'),
    read('local'),
    readBrought(realDir, home),
  ]);
  return {
    marks: {
      project: powersMark(project?.settings ?? {}),
      local: powersMark(local?.settings ?? {}),
      commands: commandsMark(commands),
      instructions: outsideMark(outside),
    },
    layers: [project, local].filter((layer) => layer !== undefined),
    commands: commands.filter(({ allowedTools }) => allowedTools.length > 0),
    outside,
  };
}

/** A fingerprint of what the project's commands run and allow; nothing when they allow nothing. */
function commandsMark(commands: readonly CustomCommand[]): string {
  const allowing = commands
    .filter(({ source, allowedTools }) => source === 'project' && allowedTools.length > 0)
    .map(({ name, allowedTools, body }) => ({ name, allowedTools, body }));
  if (allowing.length === 0) return 'nothing';
  return createHash('sha256').update(JSON.stringify(allowing)).digest('hex');
}

function commandEffect({ name, allowedTools, path }: CustomCommand): TrustEffect {
  return { kind: 'command', text: `/${name} may run ${allowedTools.join(', ')} unasked`, file: path };
}

function outsideEffect({ realPath, from }: OutsideFile): TrustEffect {
  return { kind: 'instructions', text: `${realPath}, outside of this folder, is read to the model`, file: from };
}
