import type { FirstRunAnswers, FirstRunQuestions, LocalModelServer } from '../../../contracts/frontend/first-run.ts';

/** The open page: the choices, an input line, or a list of models. */
export type FirstRunPage =
  | { readonly kind: 'choices' }
  | { readonly kind: 'key' | 'address'; readonly text: string }
  | { readonly kind: 'models'; readonly models: readonly string[] };

/** The questions of the first-run screen, asked one at a time in this order. */
export const FIRST_RUN_STEPS = ['trust', 'bypass', 'model', 'takeOver'] as const;
/** One of the questions. */
export type FirstRunStep = (typeof FIRST_RUN_STEPS)[number];

/** The state of the first-run screen: the questions, the answers so far, and the page. */
export type FirstRunScreenState = {
  readonly question: FirstRunQuestions;
  readonly servers: 'looking' | readonly LocalModelServer[];
  readonly trust: FirstRunAnswers['trust'] | undefined;
  readonly model: FirstRunAnswers['model'] | undefined;
  readonly takeOver: FirstRunAnswers['takeOver'] | undefined;
  readonly bypass: FirstRunAnswers['bypass'] | undefined;
  readonly page: FirstRunPage;
  readonly keyProvider: string | undefined;
  /** The option under the cursor; none until an arrow key is pressed. */
  readonly selected: number | undefined;
  /** Details of the effects that trusting the folder would have. */
  readonly details: 'hidden' | 'shown';
  readonly size: FirstRunSize;
  /** First visible row of the body. */
  readonly top: number;
  /** Number of rows of the body that were visible so far, from the top. */
  readonly seen: number;
  /** Reason why the last key had no effect. */
  readonly note: string;
  /** Text typed before the screen could be read; it becomes the first draft. */
  readonly typed: string;
};

/** The size of the screen; unlimited where lines are only appended. */
export type FirstRunSize = { readonly columns: number; readonly rows: number };

/** The size of a screen where lines are only appended. */
export const UNLIMITED_SCREEN_SIZE: FirstRunSize = {
  columns: Number.POSITIVE_INFINITY,
  rows: Number.POSITIVE_INFINITY,
};

/** Creates the initial state: questions that do not apply are answered already. */
export function createFirstRunScreenState(
  question: FirstRunQuestions,
  size: FirstRunSize = UNLIMITED_SCREEN_SIZE,
): FirstRunScreenState {
  return {
    question,
    servers: 'looking',
    trust: question.trust === undefined ? 'no' : undefined,
    model: question.key === 'found' ? { kind: 'as_found' } : undefined,
    takeOver: question.offer === undefined ? 'open' : undefined,
    bypass: question.bypass === 'settled' ? 'open' : undefined,
    page: { kind: 'choices' },
    keyProvider: undefined,
    selected: undefined,
    details: 'hidden',
    size,
    top: 0,
    seen: 0,
    note: '',
    typed: '',
  };
}

/** Returns the question that is open; `undefined` when all are answered. */
export function getOpenFirstRunStep(state: FirstRunScreenState): FirstRunStep | undefined {
  return FIRST_RUN_STEPS.find((step) => state[step] === undefined);
}

/** Returns the answers; `undefined` as long as a question is open. */
export function getFirstRunAnswers({
  trust,
  model,
  takeOver,
  bypass,
  typed,
}: FirstRunScreenState): FirstRunAnswers | undefined {
  if (trust === undefined || bypass === undefined || model === undefined) return undefined;
  // The demo runs in a separate folder, so the offer can wait for the next start.
  if (model.kind === 'demo') return { trust, model, takeOver: takeOver ?? 'open', bypass, typed };
  return takeOver === undefined ? undefined : { trust, model, takeOver, bypass, typed };
}

/** Lists the models of all local servers that were found. */
export function listLocalModels({ servers }: FirstRunScreenState): readonly string[] {
  return servers === 'looking' ? [] : servers.flatMap(({ models }) => models);
}
