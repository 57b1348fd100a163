/** A regular expression without backtracking: matching takes time linear in the length of the text. */
export type LinearRegex = {
  test(text: string): boolean;
  matchAll(text: string): Iterable<RegExpMatchArray>;
};

/** The supported flags. */
export type RegexFlag = 'any-case' | 'multiline' | 'dot-all';

const MAX_LENGTH = 2_000;

/** Compiles an untrusted expression (from the model, a file or a rule), or returns why it cannot be used. */
export async function compileLinearRegex(
  source: string,
  flags: readonly RegexFlag[] = [],
): Promise<LinearRegex | { readonly problem: string }> {
  if (source.length > MAX_LENGTH) return { problem: `it is longer than ${MAX_LENGTH} characters` };
  // Loaded on first use: most sessions need no expression.
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
