import type { Environment } from '../../contracts/environment.ts';
import type { TrustEffect, TrustMarks, TrustQuestion } from '../../contracts/face/trust.ts';
import { openTrust } from '../../settings/trust.ts';
import { isAsShown, trustQuestion } from './folder-trust.ts';

type Answer = { readonly ok: boolean; readonly lines: readonly string[] };

/** Trusts a folder with everything it brings about today, and says what that is. */
export async function trustFolder(dir: string, reach: 'folder' | 'below', environment: Environment): Promise<Answer> {
  return trusting(dir, reach, environment, await trustQuestion(dir, environment));
}

/** Shows and trusts one folder for somebody who looks first: a yes is one to what was shown. */
export type TrustTalk = { show(): Promise<readonly string[]>; agree(): Promise<Answer> };

export function createTrustTalk(dir: string, environment: Environment): TrustTalk {
  let shown: TrustMarks | undefined;
  return {
    async show() {
      const asked = await trustQuestion(dir, environment);
      shown = asked?.question.marks;
      return showLines(dir, asked?.question);
    },
    async agree() {
      const asked = await trustQuestion(dir, environment);
      const now = asked?.question.marks;
      if (shown === undefined || now === undefined || isAsShown(shown, now))
        return trusting(dir, 'folder', environment, asked);
      shown = now;
      const head = `${dir} has changed since it was shown, so it is not trusted. Say it again if this is what you want.`;
      return { ok: false, lines: [head, ...showLines(dir, asked?.question)] };
    },
  };
}

async function trusting(
  dir: string,
  reach: 'folder' | 'below',
  environment: Environment,
  asked: Awaited<ReturnType<typeof trustQuestion>>,
): Promise<Answer> {
  const store = asked?.store ?? (await openTrust(environment.ouroHome, environment.home));
  const isWider = reach === 'below' && store.list().every((one) => one.dir !== dir || one.reach !== 'below');
  if (asked === undefined && !isWider) return { ok: true, lines: [`${dir} is trusted already.`] };
  const marks = asked?.question.marks ?? (await store.marks(dir));
  const answer = await store.trust(dir, reach, marks, new Date());
  if (!answer.ok) return { ok: false, lines: [answer.why] };
  const what = reach === 'below' ? `${dir} and every folder below it are trusted now.` : `${dir} is trusted now.`;
  const effects = (asked?.question.effects ?? []).map(effectLine);
  const notice = answer.notice === undefined ? [] : [answer.notice];
  return { ok: true, lines: [...notice, what, ...effects, 'Take it back with: ouro trust --revoke'] };
}

/** What a folder would bring about, without trusting it. */
export async function trustShow(dir: string, environment: Environment): Promise<readonly string[]> {
  return showLines(dir, (await trustQuestion(dir, environment))?.question);
}

function showLines(dir: string, question: TrustQuestion | undefined): readonly string[] {
  if (question === undefined) return [`${dir} is trusted, and nothing has changed since.`];
  const { state, effects, refusal } = question;
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
