/** Work that goes on is mentioned after so many seconds, then every minute. */
const SECONDS = [10, 30, 60];

/** Says from time to time that a run still goes on. */
export function createProgressNotes(say: (line: string) => void) {
  let timer: ReturnType<typeof setTimeout> | undefined;

  function wait(step: number): void {
    const passed = step === 0 ? 0 : secondsAt(step - 1);
    timer = setTimeout(
      () => {
        say(`Still working, ${secondsAt(step)} seconds.`);
        wait(step + 1);
      },
      (secondsAt(step) - passed) * 1000,
    );
  }

  return { start: () => wait(0), stop: () => clearTimeout(timer) };
}

function secondsAt(step: number): number {
  return SECONDS[step] ?? 60 * (step - SECONDS.length + 2);
}
