/** A state that only its reducer changes. */
export type StateHolder<State, Event> = {
  current(): State;
  /** Applies an event, and returns the state before it. */
  update(event: Event): State;
};

/** Creates a holder with its first state. */
export function createStateHolder<State, Event>(
  first: State,
  reduce: (state: State, event: Event) => State,
): StateHolder<State, Event> {
  let state = first;
  return {
    current: () => state,
    update(event) {
      const before = state;
      state = reduce(before, event);
      return before;
    },
  };
}
