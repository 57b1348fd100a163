import { dirname } from 'node:path';
import type { Environment } from '../../contracts/environment.ts';
import type {
  ApprovedProjectPart,
  FirstRunAnswers,
  FirstRunQuestions,
  TrustEffect,
  TrustFingerprints,
  TrustQuestion,
} from '../../contracts/frontend/first-run.ts';
import { areProgramsApproved } from '../../settings/program-approvals.ts';
import { describeSettingsEffects, listTrustedContent } from '../../settings/settings-needing-approval.ts';
import { openTrustStore, type TrustStore } from '../../settings/trust-store.ts';
import { describePrograms } from './configured-programs.ts';
import { describeExtensionGrants } from './extension-grants.ts';
import { type ExternalInstructionFile, isExternalFileAccepted } from './external-instructions.ts';
import { areParentSettingsApproved, readFolderFiles } from './folder-files.ts';

/** A trust question, and the store that takes its answer. */
export type BuiltTrustQuestion = { readonly question: TrustQuestion; readonly store: TrustStore };

/**
 * Builds the trust question for a folder; `undefined` when it is trusted as it is. A start does not search the
 * subfolders of a trusted folder: new files there are excluded until a session comes across them.
 */
export async function buildTrustQuestion(
  realDir: string,
  environment: Environment,
  moment: 'start' | 'asked' = 'asked',
): Promise<BuiltTrustQuestion | undefined> {
  const store = await openTrustStore(environment.ouroHome, environment.home);
  const refusal = store.getRefusal(realDir);
  // A folder that can never be trusted is not searched: it may be a whole disk.
  const depth = moment === 'start' || refusal !== undefined ? 'top' : 'below';
  const files = await readFolderFiles(realDir, environment, depth);
  const { marks, layers, callables, agents, outside, programs, isOffered } = files;
  const known = await store.readMarks(realDir);
  const arePrograms = areProgramsApproved(known.programs, programs);
  const isSame = (source: ApprovedProjectPart) =>
    marks[source] === 'nothing' || known[source] === undefined || known[source] === marks[source];
  const areAccepted = outside.every(({ realPath }) => isExternalFileAccepted(known.instructions, realPath));
  const isAboveApproved = await areParentSettingsApproved(files, known, store);
  const isUnchanged =
    isSame('project') && isSame('local') && isSame('commands') && areAccepted && isAboveApproved && arePrograms;
  const state = store.isTrusted(realDir) ? (isUnchanged ? 'trusted' : 'changed') : 'new';
  if (state === 'trusted') return undefined;
  if (moment === 'start') return buildTrustQuestion(realDir, environment);
  const effects = [
    ...layers.flatMap(describeSettingsEffects),
    ...describeExtensionGrants(callables, agents),
    ...(await listTrustedContent(realDir)),
    ...outside.map(describeExternalFile),
    ...describePrograms(programs, realDir, { isOffered }),
  ];
  const question = { dir: realDir, state, effects, marks, ...(refusal === undefined ? {} : { refusal }) } as const;
  return { question, store };
}

/** Stores a yes about trust. Returns the new question instead if the folder has changed since it was shown. */
export async function saveTrustAnswer(
  { folder, trust: shown }: FirstRunQuestions,
  { trust }: Pick<FirstRunAnswers, 'trust'>,
  environment: Environment,
): Promise<TrustQuestion | undefined> {
  if (trust === 'no' || shown === undefined) return undefined;
  const current = await buildTrustQuestion(folder, environment);
  if (current !== undefined && !areTrustFingerprintsEqual(shown.marks, current.question.marks))
    return { ...current.question, state: 'changed-meanwhile' };
  const store = await openTrustStore(environment.ouroHome, environment.home);
  // With the fingerprints that were shown, so that later changes are detected.
  const [at, approved] = trust === 'below' ? [dirname(shown.dir), {}] : [shown.dir, shown.marks];
  const answer = await store.trust(at, trust, approved, new Date());
  if (!answer.ok) throw new Error(answer.problem);
  if (trust === 'below') await store.approve(shown.dir, shown.marks);
  return undefined;
}

/** Returns whether fingerprints are the same as those shown; an absent one equals an empty one. */
export function areTrustFingerprintsEqual(shown: TrustFingerprints, now: TrustFingerprints): boolean {
  const sources = Object.keys({ ...shown, ...now }) as readonly ApprovedProjectPart[];
  return sources.every((source) => (shown[source] ?? 'nothing') === (now[source] ?? 'nothing'));
}

function describeExternalFile({ realPath, from }: ExternalInstructionFile): TrustEffect {
  const label = `${realPath}, outside of this folder`;
  return { kind: 'instructions', text: `${label}, is sent to the model`, label, file: from };
}
