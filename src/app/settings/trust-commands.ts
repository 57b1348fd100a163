import type { Environment } from '../../contracts/environment.ts';
import type { TrustEffect } from '../../contracts/face/trust.ts';
import { openTrust } from '../../settings/trust.ts';
import { trustQuestion } from './folder-trust.ts';

type Answer = { readonly ok: boolean; readonly lines: readonly string[] };

/** Trusts a folder with everything it brings about today, and says what that is. */
export async function trustFolder(dir: string, reach: 'folder' | 'below', environment: Environment): Promise<Answer> {
  const asked = await trustQuestion(dir, environment);
  const store = asked?.store ?? (await openTrust(environment.ouroHome, environment.home));
  const isWider = reach === 'below' && store.list().every((one) => one.dir !== dir || one.reach !== 'below');
  if (asked === undefined && !isWider) return { ok: true, lines: [`${dir} is trusted already.`] };
  const marks = asked?.marks ?? (await store.marks(dir));
  const answer = await store.trust(dir, reach, marks, new Date());
  if (!answer.ok) return { ok: false, lines: [answer.why] };
  const what = reach === 'below' ? `${dir} and every folder below it are trusted now.` : `${dir} is trusted now.`;
  const effects = (asked?.question.effects ?? []).map(effectLine);
  const notice = answer.notice === undefined ? [] : [answer.notice];
  return { ok: true, lines: [...notice, what, ...effects, 'Take it back with: ouro trust --revoke'] };
}

/** What a folder would bring about, without trusting it. */
export async function trustShow(dir: string, environment: Environment): Promise<readonly string[]> {
  const asked = await trustQuestion(dir, environment);
  if (asked === undefined) return [`${dir} is trusted, and nothing has changed since.`];
  const { state, effects, refusal } = asked.question;
  const head =
    refusal ??
    (state === 'changed'
      ? `${dir} was trusted, and its settings have changed since. They would bring about:`
      : `${dir} is not trusted. It would bring about:`);
  return [head, ...(effects.length === 0 ? ['  nothing of its own'] : effects.map(effectLine))];
}

export async function trustList(environment: Environment): Promise<readonly string[]> {
  const store = await openTrust(environment.ouroHome, environment.home);
  const lines = store
    .list()
    .map(({ dir, at, reach }) => `${dir}${reach === 'below' ? ' and below' : ''}  since ${at.slice(0, 10)}`);
  const problem = store.problem === undefined ? [] : [store.problem];
  return [...problem, ...(lines.length === 0 ? ['No folder is trusted.'] : lines)];
}

export async function trustRevoke(dir: string, environment: Environment): Promise<Answer> {
  const store = await openTrust(environment.ouroHome, environment.home);
  if (store.problem !== undefined) return { ok: false, lines: [store.problem] };
  if ((await store.revoke(dir)) === 'revoked') return { ok: true, lines: [`${dir} is no longer trusted.`] };
  return { ok: false, lines: [`${dir} was not trusted by itself. ouro trust --list shows what is.`] };
}

function effectLine({ kind, text, file, line }: TrustEffect): string {
  return `  ${kind.padEnd(12)} ${text}  (${file}${line === undefined ? '' : `:${line}`})`;
}
