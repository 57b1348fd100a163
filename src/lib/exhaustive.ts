/** The end of every `switch` over a union: a forgotten variant fails to compile here. */
export function exhaustive(value: never): never {
  throw new Error(`Unhandled case: ${JSON.stringify(value)}`);
}
