import { connect as connectPlainly, type Socket } from 'node:net';
import type { Duplex } from 'node:stream';
import type { ByteReader } from './byte-reader.ts';
import type { Goal } from './host-pattern.ts';
import { httpAnswer, readHttpHead } from './http-head.ts';
import { readSocks, socksAnswer } from './socks.ts';

/** What becomes of one connection: somebody made it, or it is refused in words for the program and the model. */
export type Passage =
  | { readonly ok: true; readonly socket: Socket }
  | { readonly ok: false; readonly why: string; readonly kind: 'refused' | 'unreachable' | 'unknown' };

/** Asked once for each connection. Who asks is the token the program sent, where it sent one. */
export type Pass = (goal: Goal, token: string) => Promise<Passage>;

const HEAD_BYTES = 64_000;
const SOCKS_5 = 5;

/**
 * Serves one program: HTTP, tunnels by CONNECT and SOCKS 5, told apart by the first byte. What it reads of the beginning
 * decides where it goes; the rest is bytes that nobody looks at.
 */
export async function serveProgram(program: Duplex, bytes: ByteReader, pass: Pass): Promise<void> {
  program.on('error', () => program.destroy());
  try {
    const [first = 0] = await bytes.peek();
    await (first === SOCKS_5 ? serveSocks(program, bytes, pass) : serveHttp(program, bytes, pass));
  } catch {
    // It went away, or what it says is no request: nobody is there to be told.
    program.destroy();
  }
}

/** Connects to one of these addresses, the first that answers. */
export async function connectTo(addresses: readonly string[], port: number): Promise<Socket> {
  let problem: unknown = new Error('there is no address');
  for (const host of addresses) {
    try {
      return await opened(connectPlainly({ host, port }));
    } catch (thrown) {
      problem = thrown;
    }
  }
  throw problem;
}

export function opened(socket: Socket): Promise<Socket> {
  return new Promise((resolve, reject) => {
    socket.once('connect', () => resolve(socket)).once('error', reject);
  });
}

async function serveHttp(program: Duplex, bytes: ByteReader, pass: Pass): Promise<void> {
  const request = readHttpHead(await bytes.takeThrough('\r\n\r\n', HEAD_BYTES));
  if (request === undefined) {
    program.end(httpAnswer('400 Bad Request', 'This is a proxy: it is asked for http:// addresses, or by CONNECT.'));
    return;
  }
  const passage = await passageFor(request, pass);
  if (!passage.ok) {
    const status = STATUS[passage.kind];
    const headers = passage.kind === 'unknown' ? ['Proxy-Authenticate: Basic realm="sandbox"'] : [];
    program.end(httpAnswer(status, passage.why, headers));
    return;
  }
  if (request.kind === 'tunnel') program.write('HTTP/1.1 200 Connection established\r\n\r\n');
  else passage.socket.write(request.head, 'latin1');
  join(program, bytes, passage.socket);
}

const STATUS = {
  refused: '403 Forbidden',
  unreachable: '502 Bad Gateway',
  unknown: '407 Proxy Authentication Required',
} as const;

async function serveSocks(program: Duplex, bytes: ByteReader, pass: Pass): Promise<void> {
  const request = await readSocks(bytes, (answer) => void program.write(answer));
  if (request.kind === 'none') {
    program.end();
    return;
  }
  const passage = await passageFor(request, pass);
  if (!passage.ok) {
    program.end(socksAnswer(passage.kind === 'unreachable' ? 'unreachable' : 'refused'));
    return;
  }
  program.write(socksAnswer('well'));
  join(program, bytes, passage.socket);
}

type Wanted = { readonly goal: Goal | undefined; readonly token: string };

async function passageFor({ goal, token }: Wanted, pass: Pass): Promise<Passage> {
  if (goal === undefined) return { ok: false, kind: 'refused', why: 'This is not the name of a host.' };
  return pass(goal, token);
}

/** From here on both only hear each other; when one is gone, so is the other. */
function join(program: Duplex, bytes: ByteReader, server: Socket): void {
  const rest = bytes.rest();
  if (rest.length > 0) server.write(rest);
  program.pipe(server).on('error', () => program.destroy());
  server.pipe(program).on('error', () => server.destroy());
  endTogether(program, server);
  endTogether(server, program);
}

/** What was said to its end is still handed on; what broke off takes the other with it. */
function endTogether(one: Duplex, other: Duplex): void {
  one.on('close', () => {
    if (one.readableEnded) other.end();
    else other.destroy();
  });
}
