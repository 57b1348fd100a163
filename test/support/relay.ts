import { once } from 'node:events';
import { createServer, connect as openConnection, type Server, type Socket } from 'node:net';

/** Something that happens to a connection: it is reset, its server closes its half, or nothing arrives any more. */
export type ConnectionFault = 'reset' | 'half-close' | 'silence';

/** A network between the program and a server. */
export type Relay = {
  readonly url: string;
  /** Harms all connections of the moment. */
  harm(fault: ConnectionFault): void;
  /** Ends all connections and refuses new ones, until `open` takes them on the same port. */
  close(): Promise<void>;
  open(): Promise<void>;
  [Symbol.asyncDispose](): Promise<void>;
};

/** Passes bytes on between the program and a server on this machine. */
export async function startRelay(serverUrl: string): Promise<Relay> {
  const target = Number(new URL(serverUrl).port);
  const pairs = new Set<{ readonly near: Socket; readonly far: Socket }>();
  let server: Server | undefined;
  let port = 0;

  function pass(near: Socket): void {
    const far = openConnection(target, '127.0.0.1');
    const pair = { near, far };
    pairs.add(pair);
    near.pipe(far).on('error', () => near.destroy());
    far.pipe(near).on('error', () => far.destroy());
    near.on('close', () => {
      pairs.delete(pair);
      far.destroy();
    });
  }

  async function open(): Promise<void> {
    server = createServer({ allowHalfOpen: true }, pass).listen(port, '127.0.0.1');
    await once(server, 'listening');
    const address = server.address();
    port = typeof address === 'object' && address !== null ? address.port : 0;
  }

  async function close(): Promise<void> {
    if (server?.listening !== true) return;
    const closed = once(server, 'close');
    server.close();
    harm('reset');
    await closed;
  }

  function harm(fault: ConnectionFault): void {
    for (const { near, far } of pairs) {
      near.unpipe(far);
      far.unpipe(near);
      // Later data is dropped.
      far.resume();
      near.resume();
      if (fault === 'reset') near.resetAndDestroy();
      if (fault === 'half-close') near.end();
    }
  }

  await open();
  return { url: `http://127.0.0.1:${port}`, harm, close, open, [Symbol.asyncDispose]: close };
}
