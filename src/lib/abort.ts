/**
 * What `work` answers, or `undefined` once the signal is aborted and `graceMs` have passed.
 * The work itself is left to end on its own.
 */
export async function untilAborted<Answer>(
  work: Promise<Answer>,
  signal: AbortSignal,
  graceMs = 0,
): Promise<Answer | undefined> {
  return new Promise((resolve, reject) => {
    let timer: ReturnType<typeof setTimeout> | undefined;
    const giveUp = () => {
      timer = setTimeout(() => resolve(undefined), graceMs);
    };
    const tidy = () => {
      clearTimeout(timer);
      signal.removeEventListener('abort', giveUp);
    };
    if (signal.aborted) giveUp();
    else signal.addEventListener('abort', giveUp, { once: true });
    work.then(
      (answer) => {
        tidy();
        resolve(answer);
      },
      (problem) => {
        tidy();
        reject(problem);
      },
    );
  });
}
