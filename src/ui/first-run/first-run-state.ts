import type { FirstRunAnswer, FirstRunQuestion, LocalModels } from '../../contracts/first-run.ts';

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
  readonly page: FirstRunPage;
  readonly details: 'hidden' | 'shown';
  /** Why the last key had no effect. */
  readonly note: string;
  readonly typed: string;
};

export function firstRunState(question: FirstRunQuestion): FirstRunState {
  return {
    question,
    servers: 'looking',
    trust: question.trust === undefined ? 'no' : undefined,
    model: question.key === 'found' ? { kind: 'as_found' } : undefined,
    page: { kind: 'choices' },
    details: 'hidden',
    note: '',
    typed: '',
  };
}

/** Everything was answered; `undefined` as long as something is open. */
export function settled({ trust, model, typed }: FirstRunState): FirstRunAnswer | undefined {
  // The demo plays in a folder of its own: whether this one is trusted can wait.
  if (model?.kind === 'demo') return { trust: trust ?? 'no', model, typed };
  return trust === undefined || model === undefined ? undefined : { trust, model, typed };
}

/** Every model that answers on this machine. */
export function localModels({ servers }: FirstRunState): readonly string[] {
  return servers === 'looking' ? [] : servers.flatMap(({ models }) => models);
}
