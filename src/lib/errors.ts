/** Returns the message of anything that was thrown. */
export function getErrorMessage(thrown: unknown): string {
  return thrown instanceof Error ? thrown.message : String(thrown);
}

/** Returns the message without its full stop, for the middle or the end of a sentence. */
export function getErrorPhrase(thrown: unknown): string {
  return getErrorMessage(thrown)
    .trimEnd()
    .replace(/(?<!\.)\.$/, '');
}

/** Returns the system error code (`ENOENT`, `ENOSPC`, …) of a thrown value. */
export function getErrnoCode(thrown: unknown): string | undefined {
  if (!(thrown instanceof Error) || !('code' in thrown)) return undefined;
  return typeof thrown.code === 'string' ? thrown.code : undefined;
}

/** Resolves with `undefined` if the path does not exist. Other errors are rethrown. */
export async function ignoreMissingFile<Result>(work: Promise<Result>): Promise<Result | undefined> {
  try {
    return await work;
  } catch (thrown) {
    const code = getErrnoCode(thrown);
    if (code === 'ENOENT' || code === 'ENOTDIR') return undefined;
    throw thrown;
  }
}

/** Ends a `switch` over a union: a variant without a case fails to compile here. */
export function exhaustive(value: never): never {
  throw new Error(`Unhandled case: ${JSON.stringify(value)}`);
}
