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
    /** The resource usage after the end; times in microseconds. */
    resourceUsage(): { readonly maxRSS: number; readonly cpuTime: { readonly total: bigint } } | undefined;
  };

  type PipeOptions = {
    readonly cwd: string;
    readonly env: Readonly<Record<string, string>>;
    readonly stdin: 'ignore';
    readonly stdout: 'pipe';
    readonly stderr: 'pipe';
  };

  type PipeChild = Pick<Child, 'pid' | 'exited' | 'resourceUsage'> & {
    readonly stdout: ReadableStream<Uint8Array>;
    readonly stderr: ReadableStream<Uint8Array>;
  };
}

/** The part of Bun's server that speaks WebSocket. */
declare namespace BunServer {
  type Socket = { send(text: string): void; close(): void };

  type Server = {
    readonly port: number;
    upgrade(request: Request): boolean;
    stop(closeConnections: boolean): Promise<void>;
  };

  type Options = {
    readonly hostname: string;
    readonly port: number;
    fetch(request: Request, server: Server): Response | undefined;
    readonly websocket: {
      open(socket: Socket): void;
      close(socket: Socket): void;
      message(socket: Socket, text: string | Uint8Array): void;
    };
  };
}

declare const Bun: {
  readonly Transpiler: new (options: {
    readonly loader: 'ts' | 'tsx';
  }) => {
    /** Lists the imports that remain without the types. */
    scanImports(code: string): readonly { readonly path: string; readonly kind: string }[];
  };
  serve(options: BunServer.Options): BunServer.Server;
  spawn(command: string[], options: BunTerminal.Options): BunTerminal.Child;
  spawn(command: string[], options: BunTerminal.PipeOptions): BunTerminal.PipeChild;
};
