/** The system's error code (`ENOENT`, `ENOSPC`, …) in whatever was thrown. */
export function errnoOf(thrown: unknown): string | undefined {
  if (!(thrown instanceof Error) || !('code' in thrown)) return undefined;
  return typeof thrown.code === 'string' ? thrown.code : undefined;
}

/** Answers `undefined` when the path is not there; every other failure passes. */
export async function ifThere<Answer>(work: Promise<Answer>): Promise<Answer | undefined> {
  try {
    return await work;
  } catch (thrown) {
    const code = errnoOf(thrown);
    if (code === 'ENOENT' || code === 'ENOTDIR') return undefined;
    throw thrown;
  }
}
