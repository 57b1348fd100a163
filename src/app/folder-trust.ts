import { join } from 'node:path';
import type { SettingsLayer } from '../contracts/settings.ts';
import type { ApprovedSource, TrustQuestion } from '../contracts/trust.ts';
import { effectsOf, powersMark } from '../settings/powers.ts';
import { readLayer } from '../settings/read-layer.ts';
import type { Environment } from './environment.ts';
import { instructionEffects } from './instruction-effects.ts';
import { textOf } from './read-settings.ts';
import { type Marks, openTrust, type TrustStore } from './trust.ts';

/** The trust of one folder, for one run. */
export type FolderTrust = {
  readonly trusted: boolean;
  /** Are these the settings that were approved? What is first met below a trusted folder counts, and is kept. */
  approves(layer: SettingsLayer): boolean;
  /** Our own change of a file that was approved stays approved. */
  renew(): Promise<void>;
};

const FILES: Readonly<Record<ApprovedSource, string>> = {
  project: '.claude/settings.json',
  local: '.claude/settings.local.json',
};

/** Looks up what the user said about this folder. `this-run` trusts it as it is, and keeps nothing. */
export async function folderTrust(
  realDir: string,
  environment: Environment,
  given: 'this-run' | undefined,
): Promise<FolderTrust> {
  const store = await openTrust(environment.ouroHome, environment.home);
  const trusted = given === 'this-run' || store.isTrusted(realDir);
  const refused = new Set<string>();
  return {
    trusted,
    approves({ source, settings }) {
      if (given === 'this-run' || (source !== 'project' && source !== 'local')) return true;
      const [mark, known] = [powersMark(settings), store.marks(realDir)[source]];
      if (mark === 'nothing' || known === mark) return true;
      if (known === undefined) {
        // Nobody waits: a mark that could not be kept is met again at the next start.
        void store.approve(realDir, { [source]: mark }).catch(() => undefined);
        return true;
      }
      refused.add(source);
      return false;
    },
    async renew() {
      if (given === 'this-run' || !store.isTrusted(realDir)) return;
      const { marks } = await look(realDir);
      const kept = Object.entries(marks).filter(([source]) => !refused.has(source));
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
  const { marks, layers } = await look(realDir);
  const known = store.marks(realDir);
  const isSame = (source: ApprovedSource) =>
    marks[source] === 'nothing' || known[source] === undefined || known[source] === marks[source];
  const state = store.isTrusted(realDir) ? (isSame('project') && isSame('local') ? 'trusted' : 'changed') : 'new';
  if (state === 'trusted') return undefined;
  const effects = [...layers.flatMap(effectsOf), ...(await instructionEffects(realDir))];
  const refusal = store.refusal(realDir);
  return { question: { dir: realDir, state, effects, ...(refusal === undefined ? {} : { refusal }) }, store, marks };
}

/** The settings of a folder as data: read to be shown and fingerprinted, never applied here. */
async function look(realDir: string): Promise<{ readonly marks: Marks; readonly layers: readonly SettingsLayer[] }> {
  const read = async (source: ApprovedSource) => {
    const file = join(realDir, FILES[source]);
    const text = await textOf(file).catch(() => undefined);
    return text === undefined ? undefined : readLayer(text, file, source).layer;
  };
  const [project, local] = await Promise.all([read('project'), read('local')]);
  return {
    marks: { project: powersMark(project?.settings ?? {}), local: powersMark(local?.settings ?? {}) },
    layers: [project, local].filter((layer) => layer !== undefined),
  };
}
