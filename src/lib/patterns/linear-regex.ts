/** A regular expression that cannot freeze anything: its time grows with the text, never with the ways to match it. */
export type LinearRegex = {
  test(text: string): boolean;
  matchAll(text: string): Iterable<RegExpMatchArray>;
};

export type RegexFlag = 'any-case' | 'multiline' | 'dot-all';

const MAX_LENGTH = 2_000;

/** Reads an expression that the model, a file or a rule brought; or says why it is not used. */
export async function linearRegex(
  source: string,
  flags: readonly RegexFlag[] = [],
): Promise<LinearRegex | { readonly problem: string }> {
  if (source.length > MAX_LENGTH) return { problem: `it is longer than ${MAX_LENGTH} characters` };
  // Loaded when the first expression comes.
  const { RE2JS, RE2JSException } = await import('re2js');
  const bits = { 'any-case': RE2JS.CASE_INSENSITIVE, multiline: RE2JS.MULTILINE, 'dot-all': RE2JS.DOTALL };
  try {
    return RE2JS.compile(
      source,
      flags.reduce((sum, flag) => sum | bits[flag], 0),
    );
  } catch (thrown) {
    if (!(thrown instanceof RE2JSException)) throw thrown;
    return { problem: thrown.message };
  }
}

/** Lets keys and signals be heard in a long loop: asked at each step, it waits only when some time has passed. */
export function breather(everyMs = 10): () => Promise<void> | undefined {
  let since = performance.now();
  return () => {
    if (performance.now() - since < everyMs) return undefined;
    return new Promise((resolve) =>
      setImmediate(() => {
        since = performance.now();
        resolve();
      }),
    );
  };
}
