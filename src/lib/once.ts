/** Makes a value when it is first asked for, and keeps it. */
export function once<Value>(make: () => Value): () => Value {
  let made: { readonly value: Value } | undefined;
  return () => {
    made ??= { value: make() };
    return made.value;
  };
}

const MANY = 2_000;

/** Answers the same question from memory; of so many that no person wrote them all, none is kept for long. */
export function remembered<Value>(answer: (question: string) => Value): (question: string) => Value {
  const known = new Map<string, { readonly value: Value }>();
  return (question) => {
    const kept = known.get(question);
    if (kept !== undefined) return kept.value;
    if (known.size >= MANY) known.clear();
    const value = answer(question);
    known.set(question, { value });
    return value;
  };
}
