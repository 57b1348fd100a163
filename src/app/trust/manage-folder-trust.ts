import type { Environment } from '../../contracts/environment.ts';
import type { TrustEffect, TrustFingerprints, TrustQuestion } from '../../contracts/frontend/first-run.ts';
import { openTrustStore } from '../../settings/trust-store.ts';
import { areTrustFingerprintsEqual, type BuiltTrustQuestion, buildTrustQuestion } from './trust-question.ts';

type TrustReport = { readonly ok: boolean; readonly lines: readonly string[] };

/** Trusts a folder with its current content, and lists the effects. */
export async function trustFolder(
  dir: string,
  reach: 'folder' | 'below',
  environment: Environment,
): Promise<TrustReport> {
  return storeTrust(dir, reach, environment, await buildTrustQuestion(dir, environment));
}

/** A dialog that shows the effects of trusting a folder before it is trusted. */
export type TrustDialog = { show(): Promise<readonly string[]>; agree(): Promise<TrustReport> };

/** Creates the dialog; if the folder changes after it was shown, it is shown again instead of being trusted. */
export function createTrustDialog(dir: string, environment: Environment): TrustDialog {
  let shown: TrustFingerprints | undefined;
  return {
    async show() {
      const built = await buildTrustQuestion(dir, environment);
      shown = built?.question.marks;
      return renderQuestion(dir, built?.question);
    },
    async agree() {
      const built = await buildTrustQuestion(dir, environment);
      const current = built?.question.marks;
      if (shown === undefined || current === undefined || areTrustFingerprintsEqual(shown, current))
        return storeTrust(dir, 'folder', environment, built);
      shown = current;
      const head = `${dir} has changed since it was shown and was not trusted. Repeat the command to trust it as it is now.`;
      return { ok: false, lines: [head, ...renderQuestion(dir, built?.question)] };
    },
  };
}

async function storeTrust(
  dir: string,
  reach: 'folder' | 'below',
  environment: Environment,
  built: BuiltTrustQuestion | undefined,
): Promise<TrustReport> {
  const store = built?.store ?? (await openTrustStore(environment.ouroHome, environment.home));
  const isWider = reach === 'below' && store.list().every((entry) => entry.dir !== dir || entry.reach !== 'below');
  if (built === undefined && !isWider) return { ok: true, lines: [`${dir} is already trusted.`] };
  const marks = built?.question.marks ?? (await store.readMarks(dir));
  const answer = await store.trust(dir, reach, marks, new Date());
  if (!answer.ok) return { ok: false, lines: [answer.problem] };
  const message = reach === 'below' ? `${dir} and all folders below it are now trusted.` : `${dir} is now trusted.`;
  const effects = (built?.question.effects ?? []).map(renderEffect);
  const notice = answer.notice === undefined ? [] : [answer.notice];
  return { ok: true, lines: [...notice, message, ...effects, 'Undo with: ouro trust --revoke'] };
}

/** Lists the effects of trusting a folder, without trusting it. */
export async function listTrustEffects(dir: string, environment: Environment): Promise<readonly string[]> {
  return renderQuestion(dir, (await buildTrustQuestion(dir, environment))?.question);
}

function renderQuestion(dir: string, question: TrustQuestion | undefined): readonly string[] {
  if (question === undefined) return [`${dir} is trusted, and has not changed since.`];
  const { state, effects, refusal } = question;
  const head =
    refusal ??
    (state === 'changed'
      ? `${dir} was trusted and has changed since. Effects of trusting it again:`
      : `${dir} is not trusted. Effects of trusting it:`);
  return [head, ...(effects.length === 0 ? ['  none'] : effects.map(renderEffect))];
}

/** Lists the folders that the user has trusted. */
export async function listTrustedFolders(environment: Environment): Promise<readonly string[]> {
  const store = await openTrustStore(environment.ouroHome, environment.home);
  const lines = store
    .list()
    .map(({ dir, at, reach }) => `${dir}${reach === 'below' ? ' and below' : ''}  since ${at.slice(0, 10)}`);
  const problem = store.problem === undefined ? [] : [store.problem];
  return [...problem, ...(lines.length === 0 ? ['No folder is trusted.'] : lines)];
}

/** Revokes the trust in a folder. */
export async function revokeTrust(dir: string, environment: Environment): Promise<TrustReport> {
  const store = await openTrustStore(environment.ouroHome, environment.home);
  if (store.problem !== undefined) return { ok: false, lines: [store.problem] };
  if ((await store.revoke(dir)) === 'revoked') return { ok: true, lines: [`${dir} is no longer trusted.`] };
  return { ok: false, lines: [`${dir} is not a trusted folder. Run "ouro trust --list" to see them.`] };
}

function renderEffect({ kind, text, file, line }: TrustEffect): string {
  return `  ${kind.padEnd(12)} ${text}  (${file}${line === undefined ? '' : `:${line}`})`;
}
