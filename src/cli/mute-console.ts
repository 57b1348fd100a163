const WAYS = ['log', 'info', 'warn', 'error', 'debug', 'trace'] as const;

/**
 * We print through `Io` alone. What a library says on the console would stand in the midst of the screen, or of a line
 * of JSON that a program reads.
 */
export function muteConsole(): void {
  for (const way of WAYS) console[way] = () => undefined;
}
