import type { FirstRunAnswer, FirstRunQuestion, LocalModels } from '../../contracts/face/first-run.ts';

/** What is open: the choices, a line to write in, or a list of models. */
export type FirstRunPage =
  | { readonly kind: 'choices' }
  | { readonly kind: 'key' | 'address'; readonly text: string }
  | { readonly kind: 'models'; readonly models: readonly string[] };

/** The first screen, as a value. */
export type FirstRunState = {
  readonly question: FirstRunQuestion;
  readonly servers: 'looking' | readonly LocalModels[];
  readonly trust: FirstRunAnswer['trust'] | undefined;
  readonly model: FirstRunAnswer['model'] | undefined;
  readonly takeOver: FirstRunAnswer['takeOver'] | undefined;
  readonly bypass: FirstRunAnswer['bypass'] | undefined;
  readonly page: FirstRunPage;
  readonly details: 'hidden' | 'shown';
  readonly size: FirstRunSize;
  /** The first row in sight of what the folder brings, and how many of its rows were in sight until now. */
  readonly top: number;
  readonly seen: number;
  /** Why the last key had no effect. */
  readonly note: string;
  readonly typed: string;
};

/** What is drawn on; where lines are only added there is no end of them. */
export type FirstRunSize = { readonly columns: number; readonly rows: number };

export const ENDLESS: FirstRunSize = { columns: Number.POSITIVE_INFINITY, rows: Number.POSITIVE_INFINITY };

export function firstRunState(question: FirstRunQuestion, size: FirstRunSize = ENDLESS): FirstRunState {
  return {
    question,
    servers: 'looking',
    trust: question.trust === undefined ? 'no' : undefined,
    model: question.key === 'found' ? { kind: 'as_found' } : undefined,
    takeOver: question.offer === undefined ? 'open' : undefined,
    bypass: question.bypass === 'settled' ? 'open' : undefined,
    page: { kind: 'choices' },
    details: 'hidden',
    size,
    top: 0,
    seen: 0,
    note: '',
    typed: '',
  };
}

/** Everything was answered; `undefined` as long as something is open. */
export function settledAnswer({ trust, model, takeOver, bypass, typed }: FirstRunState): FirstRunAnswer | undefined {
  // The demo plays in a folder of its own: all else can wait.
  if (model?.kind === 'demo')
    return { trust: trust ?? 'no', model, takeOver: takeOver ?? 'open', bypass: bypass ?? 'open', typed };
  if (trust === undefined || model === undefined || takeOver === undefined || bypass === undefined) return undefined;
  return { trust, model, takeOver, bypass, typed };
}

/** Every model that answers on this machine. */
export function localModels({ servers }: FirstRunState): readonly string[] {
  return servers === 'looking' ? [] : servers.flatMap(({ models }) => models);
}
