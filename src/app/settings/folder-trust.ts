import { createHash } from 'node:crypto';
import { dirname, join } from 'node:path';
import type { Environment } from '../../contracts/environment.ts';
import type { AgentKind, Callable } from '../../contracts/extension.ts';
import type { ApprovedSource, TrustEffect, TrustMarks, TrustQuestion } from '../../contracts/face/trust.ts';
import type { SettingsLayer } from '../../contracts/settings.ts';
import type { Extensions } from '../../extensions/load-extensions.ts';
import { readGiven } from '../../lib/files/read-regular.ts';
import { instructionEffects } from '../../settings/instruction-effects.ts';
import { effectsOf, powersMark } from '../../settings/powers.ts';
import { readLayer } from '../../settings/read-layer.ts';
import { openTrust, type TrustStore } from '../../settings/trust.ts';
import { usableHooks } from '../../settings/usable.ts';
import { isAccepted, type OutsideFile, outsideMark, readBrought } from './outside-instructions.ts';
import { projectFolders } from './project-folders.ts';

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
    async approves({ source, settings, file }) {
      if (source !== 'project' && source !== 'local') return true;
      if (dirname(dirname(file)) === realDir) return isApproved(source, powersMark(settings));
      if (given === 'this-run' || powersMark(settings) === 'nothing') return true;
      const { marks, above } = await readFolder(realDir, environment.home, 'top');
      return (await store.marks(realDir)).above === marks.above || (await areTrusted(above, store));
    },
    async onlyApproved(extensions) {
      const { commands, skills, agents } = extensions;
      const problems = [...extensions.problems, ...damage];
      if (await isApproved('commands', grantsMark([...commands, ...skills], agents)))
        return { ...extensions, problems };
      const path = join(realDir, '.claude');
      const text =
        'has changed since this folder was trusted, so what its commands and skills allow asks, and no hook of theirs or of its sub-agents runs. Look at it with "ouro trust --show", approve it with "ouro trust".';
      return {
        ...extensions,
        commands: commands.map(withoutGrants),
        skills: skills.map(withoutGrants),
        agents: agents.map(withoutHooks),
        problems: [...problems, { path, text }],
      };
    },
    async renew() {
      if (given === 'this-run' || !store.isTrusted(realDir)) return;
      const { marks } = await readFolder(realDir, environment.home, 'top');
      // What instructions bring in from outside is accepted by a person who saw it, never along with our own change.
      const shown = ['instructions', 'above'];
      const kept = Object.entries(marks).filter(([source]) => !shown.includes(source) && !refused.has(source));
      await store.approve(realDir, Object.fromEntries(kept));
    },
  };
}

/**
 * What a person must be asked about this folder; `undefined` when it is trusted as it stands. A start does not look
 * through the folders below one that is trusted: what is new there is left out until it is met.
 */
export async function trustQuestion(
  realDir: string,
  environment: Environment,
  moment: 'start' | 'asked' = 'asked',
): Promise<{ readonly question: TrustQuestion; readonly store: TrustStore } | undefined> {
  const store = await openTrust(environment.ouroHome, environment.home);
  const refusal = store.refusal(realDir);
  // What can never be trusted is not looked through: it may be a whole disk.
  const depth = moment === 'start' || refusal !== undefined ? 'top' : 'below';
  const { marks, layers, callables, agents, outside, above } = await readFolder(realDir, environment.home, depth);
  const known = await store.marks(realDir);
  const isSame = (source: ApprovedSource) =>
    marks[source] === 'nothing' || known[source] === undefined || known[source] === marks[source];
  const areAccepted = outside.every(({ realPath }) => isAccepted(known.instructions, realPath));
  // What stands in folders around it was never met by trusting this one.
  const isAboveSame = marks.above === 'nothing' || known.above === marks.above || (await areTrusted(above, store));
  const isUnchanged = isSame('project') && isSame('local') && isSame('commands') && areAccepted && isAboveSame;
  const state = store.isTrusted(realDir) ? (isUnchanged ? 'trusted' : 'changed') : 'new';
  if (state === 'trusted') return undefined;
  if (moment === 'start') return trustQuestion(realDir, environment);
  const effects = [
    ...layers.flatMap(effectsOf),
    ...callables.flatMap(callableEffects),
    ...agents.flatMap(hookEffects),
    ...(await instructionEffects(realDir)),
    ...outside.map(outsideEffect),
  ];
  const question = { dir: realDir, state, effects, marks, ...(refusal === undefined ? {} : { refusal }) } as const;
  return { question, store };
}

/** Would these be shown again as they were? What was nothing then, and what was not there, is the same. */
export function isAsShown(shown: TrustMarks, now: TrustMarks): boolean {
  const sources = Object.keys({ ...shown, ...now }) as readonly ApprovedSource[];
  return sources.every((source) => (shown[source] ?? 'nothing') === (now[source] ?? 'nothing'));
}

type FolderFiles = {
  readonly marks: TrustMarks;
  /** Those of the folder, then those of the folders around it. */
  readonly layers: readonly SettingsLayer[];
  readonly above: readonly SettingsLayer[];
  /** Commands and skills. */
  readonly callables: readonly Callable[];
  readonly agents: readonly AgentKind[];
  readonly outside: readonly OutsideFile[];
};

/** The files of a folder as data: read to be shown and fingerprinted, never applied here. */
async function readFolder(realDir: string, home: string, depth: 'top' | 'below'): Promise<FolderFiles> {
  const read = async (folder: string, source: keyof typeof FILES) => {
    const file = join(folder, FILES[source]);
    const text = await readGiven(file).catch(() => undefined);
    return text === undefined ? [] : [readLayer(text, file, source).layer];
  };
  const both = async (folder: string) => (await Promise.all([read(folder, 'project'), read(folder, 'local')])).flat();
  const [own, ...around] = projectFolders(realDir, home);
  const [layers, above, { callables, agents, outside }] = await Promise.all([
    both(own),
    Promise.all(around.map(both)).then((all) => all.flat()),
    readBrought(realDir, home, depth),
  ]);
  const markOf = (wanted: string) => powersMark(layers.find(({ source }) => source === wanted)?.settings ?? {});
  const aboveMarks = above.flatMap(({ file, settings }) => {
    const mark = powersMark(settings);
    return mark === 'nothing' ? [] : [`${file} ${mark}`];
  });
  return {
    marks: {
      project: markOf('project'),
      local: markOf('local'),
      commands: grantsMark(callables, agents),
      instructions: outsideMark(outside),
      above: aboveMarks.length === 0 ? 'nothing' : aboveMarks.join('\n'),
    },
    layers: [...layers, ...above],
    above,
    callables,
    agents,
    outside,
  };
}

/** Are the folders these settings stand in trusted by themselves, as they are now? */
async function areTrusted(layers: readonly SettingsLayer[], store: TrustStore): Promise<boolean> {
  const answers = layers.map(async ({ file, source, settings }) => {
    const mark = powersMark(settings);
    const folder = dirname(dirname(file));
    if (mark === 'nothing') return true;
    const known = await store.marks(folder);
    return store.isTrusted(folder) && (source === 'project' ? known.project : known.local) === mark;
  });
  return (await Promise.all(answers)).every((isTrusted) => isTrusted);
}

function withoutGrants<Kind extends Callable>(callable: Kind): Kind {
  return callable.source === 'project' ? { ...withoutHooks(callable), allowedTools: [] } : callable;
}

function withoutHooks<Carrier extends Pick<Callable, 'source' | 'hooks'>>(carrier: Carrier): Carrier {
  return carrier.source === 'project' && carrier.hooks !== undefined ? { ...carrier, hooks: {} } : carrier;
}

/** A fingerprint of what the project's commands, skills and sub-agents run and allow; nothing when they do neither. */
function grantsMark(callables: readonly Callable[], agents: readonly AgentKind[]): string {
  const allowing = callables
    .filter(
      ({ source, allowedTools, hooks }) => source === 'project' && (allowedTools.length > 0 || hooks !== undefined),
    )
    .map(({ name, allowedTools, body, hooks }) => ({ name, allowedTools, body, hooks }));
  const hooking = agents
    .filter(({ source, hooks }) => source === 'project' && hooks !== undefined)
    .map(({ name, hooks }) => ({ name, hooks }));
  const all = [...allowing, ...hooking];
  if (all.length === 0) return 'nothing';
  return createHash('sha256').update(JSON.stringify(all)).digest('hex');
}

function callableEffects(callable: Callable): readonly TrustEffect[] {
  const { name, allowedTools, path } = callable;
  const text = `/${name} may run ${allowedTools.join(', ')} unasked`;
  const grants: readonly TrustEffect[] = allowedTools.length === 0 ? [] : [{ kind: 'command', text, file: path }];
  return [...grants, ...hookEffects(callable)];
}

/** The hooks in the head of a file, as those of settings are shown. */
function hookEffects({
  name,
  hooks,
  path: file = name,
}: Pick<AgentKind, 'name' | 'hooks' | 'path'>): readonly TrustEffect[] {
  if (hooks === undefined) return [];
  const effects = effectsOf({
    source: 'project',
    file,
    settings: { hooks: usableHooks(hooks).hooks },
    lineOf: () => undefined,
  });
  return effects.map((effect) => ({ ...effect, text: `while ${name} holds, ${effect.text}` }));
}

function outsideEffect({ realPath, from }: OutsideFile): TrustEffect {
  return { kind: 'instructions', text: `${realPath}, outside of this folder, is read to the model`, file: from };
}
