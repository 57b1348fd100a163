/** The other screen of a terminal, which leaves the first and its history as they are. */
export type AlternateScreen = { enter(): void; show(rows: readonly string[]): void; leave(): void };

/** Draws whole screens, without ever scrolling or clearing more than it draws over. */
export function createAlternateScreen(write: (text: string) => unknown): AlternateScreen {
  return {
    enter: () => void write('\u001b[?1049h\u001b[?25l'),
    show(rows) {
      const text = rows.map((row) => `${row}\u001b[0m\u001b[K`).join('\r\n');
      write(`\u001b[?2026h\u001b[H${text}\u001b[J\u001b[?2026l`);
    },
    leave: () => void write('\u001b[?1049l\u001b[?25h'),
  };
}
