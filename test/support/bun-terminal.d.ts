/** The part of Bun's process API that the virtual terminal uses: a child behind a pseudo-terminal. */
declare namespace BunTerminal {
  type Terminal = {
    write(data: string | Uint8Array): number;
    resize(cols: number, rows: number): void;
    close(): void;
    readonly closed: boolean;
  };

  type Options = {
    readonly cwd?: string;
    readonly env?: Readonly<Record<string, string>>;
    readonly terminal: {
      readonly cols: number;
      readonly rows: number;
      data(terminal: Terminal, data: Uint8Array): void;
      exit?(terminal: Terminal): void;
    };
  };

  type Child = {
    readonly pid: number;
    readonly terminal: Terminal;
    readonly exited: Promise<number>;
    readonly exitCode: number | null;
    readonly signalCode: NodeJS.Signals | null;
    kill(signal?: NodeJS.Signals | number): void;
  };
}

declare const Bun: { spawn(command: string[], options: BunTerminal.Options): BunTerminal.Child };
