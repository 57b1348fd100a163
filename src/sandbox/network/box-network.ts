import { randomBytes } from 'node:crypto';
import { mkdtempSync, rmSync } from 'node:fs';
import { createServer, type Server, type Socket } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Bridge } from './bridge.ts';
import { readBytes } from './byte-reader.ts';
import { type Goal, spelled } from './host-pattern.ts';
import { type Passage, serveProgram } from './proxy.ts';
import { proxyVariables } from './variables.ts';
import { openWay, type WayOut } from './way-out.ts';

/** A command that runs in a box. */
export type Caller = {
  readonly id: string;
  readonly command: string;
  readonly cwd: string;
  /** It has ended. */
  readonly signal: AbortSignal;
};

export type HostAnswer = { readonly ok: true } | { readonly ok: false; readonly why: string };

/** What was refused, to which command, and why. */
export type Refusal = {
  readonly callId: string;
  readonly command: string;
  readonly host: string;
  readonly why: string;
};

export type BoxNetwork = {
  /** A command begins: what stands in front of it, and the variables it finds its way by. */
  join(
    caller: Omit<Caller, 'signal'>,
  ): Promise<{ readonly enter: readonly string[]; readonly variables: Readonly<Record<string, string>> }>;
  /** It has ended, with all it started. */
  leave(callId: string): void;
  /** Lately, the oldest first. */
  refusals(): readonly Refusal[];
  close(): void;
};

export type BoxNetworkParts = {
  /** May this command go there? Asked once for each connection. */
  readonly decide: (caller: Caller, goal: Goal) => Promise<HostAnswer>;
  readonly way: () => WayOut;
  /** Makes a network for boxes with a door to this socket; none where boxes share the network of the machine. */
  readonly bridge?: (socket: string, port: number) => Promise<Bridge>;
  /** What programs of Java are told already. */
  readonly javaOptions: string | undefined;
};

/** In the network of the boxes; below the numbers that programs are given for their own connections. */
const DOOR_PORT = 19_128;
const KEPT = 50;

type Known = { readonly caller: Caller; readonly end: AbortController; readonly key: string };

/** The way out of the boxes of one conversation: every connection is decided by its host, and made by us. */
export function createBoxNetwork({ decide, way, bridge, javaOptions }: BoxNetworkParts): BoxNetwork {
  /** By where their connections come from: an address of their own, or what they say. */
  const known = new Map<string, Known>();
  let refused: readonly Refusal[] = [];
  let count = 0;
  let started: Promise<Started> | undefined;

  async function pass(caller: Caller | undefined, goal: Goal): Promise<Passage> {
    if (caller === undefined) return { ok: false, kind: 'unknown', why: 'Nobody knows which command this is.' };
    const answer = await decide(caller, goal);
    const passage: Passage = answer.ok ? await openWay(goal, way()) : { ...answer, kind: 'refused' };
    if (passage.ok || passage.kind !== 'refused') return passage;
    const refusal = { callId: caller.id, command: caller.command, host: spelled(goal), why: passage.why };
    const others = refused.filter(({ callId, host }) => callId !== refusal.callId || host !== refusal.host);
    refused = [...others, refusal].slice(-KEPT);
    return { ...passage, why: `The sandbox keeps this command from ${refusal.host}: ${passage.why}.` };
  }

  async function serve(socket: Socket): Promise<void> {
    const bytes = readBytes(socket);
    if (bridge === undefined) return serveProgram(socket, bytes, (goal, token) => pass(known.get(token)?.caller, goal));
    socket.on('error', () => socket.destroy());
    const address = await bytes.takeThrough('\n', 64).catch(() => '');
    return serveProgram(socket, bytes, (goal) => pass(known.get(address.trim())?.caller, goal));
  }

  /** One at a time, so that two commands that begin together share one. */
  function running(): Promise<Started> {
    const before = started;
    started = (async () => {
      const now = await before?.catch(() => undefined);
      if (now?.isOpen() === true) return now;
      now?.close();
      return start((socket) => void serve(socket), bridge);
    })();
    return started;
  }

  return {
    async join({ id, command, cwd }) {
      const { enter, door } = await running();
      count += 1;
      const key = bridge === undefined ? randomBytes(16).toString('hex') : addressOf(count);
      const end = new AbortController();
      known.set(key, { caller: { id, command, cwd, signal: end.signal }, end, key });
      return { enter, variables: proxyVariables(door(key), javaOptions) };
    },
    leave(callId) {
      for (const { caller, end, key } of known.values()) {
        if (caller.id !== callId) continue;
        end.abort();
        known.delete(key);
      }
    },
    refusals: () => refused,
    close() {
      for (const { end } of known.values()) end.abort();
      known.clear();
      void started?.then(
        (it) => it.close(),
        () => undefined,
      );
      started = undefined;
    },
  };
}

type Started = {
  readonly enter: readonly string[];
  readonly isOpen: () => boolean;
  /** Where a command of this key goes. */
  readonly door: (key: string) => URL;
  close(): void;
};

async function start(onSocket: (socket: Socket) => void, bridge: BoxNetworkParts['bridge']): Promise<Started> {
  const server = createServer({ allowHalfOpen: true }, onSocket);
  if (bridge === undefined) {
    const port = await listening(server, { host: '127.0.0.1', port: 0 });
    const door = (key: string) => new URL(`http://ouro:${key}@127.0.0.1:${port}`);
    return { enter: [], isOpen: () => server.listening, door, close: () => void server.close() };
  }
  const folder = mkdtempSync(join(tmpdir(), 'ouro-net-'));
  const path = join(folder, 'door');
  await listening(server, { path });
  const close = () => {
    server.close();
    rmSync(folder, { recursive: true, force: true });
  };
  try {
    const made = await bridge(path, DOOR_PORT);
    return {
      enter: made.enter,
      isOpen: made.isOpen,
      door: (key) => new URL(`http://${key}:${DOOR_PORT}`),
      close: () => {
        made.close();
        close();
      },
    };
  } catch (thrown) {
    close();
    throw thrown;
  }
}

function listening(
  server: Server,
  where: { readonly path: string } | { readonly host: string; readonly port: number },
) {
  return new Promise<number>((resolve, reject) => {
    server.once('error', reject);
    server.listen(where, () => {
      const address = server.address();
      // Nobody is kept from leaving by it.
      server.unref();
      resolve(typeof address === 'object' && address !== null ? address.port : 0);
    });
  });
}

/** Each command has an address of its own on the way round: by it one knows whose a connection is, whatever it speaks. */
function addressOf(count: number): string {
  return `127.${1 + ((count >> 16) % 254)}.${(count >> 8) & 255}.${count & 255}`;
}
