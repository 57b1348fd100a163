/** One piece of a pattern. `folders` is nothing, or any number of folder names, each with the slash behind it. */
export type GlobStep =
  | { readonly is: 'one' | 'many'; readonly fits: (sign: string) => boolean }
  | { readonly is: 'folders' }
  | { readonly is: 'either'; readonly ways: readonly (readonly GlobStep[])[] };

export const anySign: GlobStep = { is: 'one', fits: () => true };
export const anyText: GlobStep = { is: 'many', fits: () => true };

export function literalSteps(text: string): readonly GlobStep[] {
  return [...text].map((wanted) => ({ is: 'one', fits: (sign) => sign === wanted }));
}

/** A pattern in which only the star means something: any text. */
export function starTest(pattern: string): (text: string) => boolean {
  return globTest([...pattern].flatMap((sign) => (sign === '*' ? [anyText] : literalSteps(sign))));
}

/**
 * Says of a text whether it is what the steps describe, or (`or-below`) a path below that. All places of the pattern where
 * the text may stand are followed at once, so the time grows with both lengths and no pattern can freeze anything.
 */
export function globTest(steps: readonly GlobStep[], end: 'exact' | 'or-below' = 'exact'): (text: string) => boolean {
  const states = statesOf(steps);
  return (text) => {
    const places = createPlaces(states);
    places.enter(states.length - 1, 'folder');
    let now = places.take();
    for (const sign of text) {
      if (end === 'or-below' && sign === '/' && now.includes(END)) return true;
      const place = sign === '/' ? 'folder' : 'name';
      for (const at of now) {
        const state = states[at];
        if (state?.fits?.(sign) === true) places.enter(state.next, place);
      }
      now = places.take();
      if (now.length === 0) return false;
    }
    return now.includes(END);
  };
}

/** Takes a sign and goes to `next`, and goes on by itself to each of `skips`; `atFolder` only where a name begins. */
type State = {
  readonly fits?: (sign: string) => boolean;
  readonly next: number;
  readonly skips: readonly number[];
  readonly when?: 'at-folder';
};

const END = 0;

/** The states behind one another: the end is the first of the list, the beginning the last. */
function statesOf(steps: readonly GlobStep[]): readonly State[] {
  const states: State[] = [{ next: 0, skips: [] }];
  const add = (state: State) => states.push(state) - 1;
  const build = (list: readonly GlobStep[], then: number): number =>
    list.reduceRight((next, step, index) => {
      const before = list[index - 1];
      switch (step.is) {
        case 'one':
          return add({ fits: step.fits, next, skips: [] });
        case 'many':
          return before === step ? next : add({ fits: step.fits, next: states.length, skips: [next] });
        case 'folders':
          return before?.is === 'folders'
            ? next
            : add({ fits: () => true, next: states.length, skips: [next], when: 'at-folder' });
        default:
          return add({ next: 0, skips: step.ways.map((way) => build(way, next)) });
      }
    }, then);
  const start = build(steps, 0);
  add({ next: 0, skips: [start] });
  return states;
}

/** The places where a text may stand, each once, with those that take no sign more. */
function createPlaces(states: readonly State[]) {
  const enteredAt = new Uint32Array(states.length);
  let round = 1;
  let found: number[] = [];
  const pending: number[] = [];
  const enter = (from: number, place: 'folder' | 'name'): void => {
    for (let at: number | undefined = from; at !== undefined; at = pending.pop()) {
      if (enteredAt[at] === round) continue;
      enteredAt[at] = round;
      found.push(at);
      const state = states[at];
      if (state !== undefined && (state.when === undefined || place === 'folder')) pending.push(...state.skips);
    }
  };
  return {
    enter,
    take(): readonly number[] {
      const all = found;
      found = [];
      round += 1;
      return all;
    },
  };
}
