import { type ChildProcess, spawn } from 'node:child_process';
import { readlinkSync } from 'node:fs';
import type { Readable } from 'node:stream';
import { z } from 'zod';

/** A network namespace whose only exit is a bridge to the proxy. Commands in it reach each other and the proxy. */
export type NetworkBridge = Awaited<ReturnType<typeof openNetworkBridge>>;

/** The programs and addresses a bridge needs. */
export type NetworkBridgeOptions = {
  readonly bwrap: string;
  readonly nsenter: string;
  /** Executable of the current JavaScript runtime, which runs the bridge code. */
  readonly runtime: string;
  /** Unix socket on which the proxy listens. */
  readonly socket: string;
  readonly port: number;
};

/**
 * Code of the bridge process: forwards each connection to the proxy, preceded by the local address it was made to,
 * which identifies the command. A string, since it runs in its own process even when ouro is a single executable.
 */
const BRIDGE_CODE = `
const { createServer, connect } = require('node:net');
const { writeSync } = require('node:fs');
const [path, port] = process.argv.slice(-2);
createServer({ allowHalfOpen: true }, (program) => {
  const out = connect({ path, allowHalfOpen: true });
  out.write(program.localAddress + '\\n');
  const join = (one, other) => {
    one.pipe(other);
    one.on('error', () => other.destroy());
    one.on('close', () => (one.readableEnded ? other.end() : other.destroy()));
  };
  join(program, out);
  join(out, program);
}).listen(Number(port), '0.0.0.0', () => writeSync(1, 'open'));
`;

const infoSchema = z.object({ 'child-pid': z.number().int().positive() });

/** Creates the network and waits until its bridge listens. Rejects with the first error line of bwrap. */
export async function openNetworkBridge({ bwrap, nsenter, runtime, socket, port }: NetworkBridgeOptions) {
  const args = [
    ...['--ro-bind', '/', '/', '--dev-bind', '/dev', '/dev', '--unshare-net', '--die-with-parent', '--new-session'],
    ...['--info-fd', '3', '--', runtime, '-e', BRIDGE_CODE, socket, String(port)],
  ];
  // Makes the single executable of ouro, which has its own name for BUN_BE_BUN, behave like the plain runtime.
  const env = { OUR_BE_BUN: '1' };
  const child = spawn(bwrap, args, { cwd: '/', env, stdio: ['ignore', 'pipe', 'pipe', 'pipe'] });
  child.unref();
  let isOpen = true;
  child.on('exit', () => {
    isOpen = false;
  });
  try {
    const pid = await waitForBridge(child);
    const hasUserNamespace = readlinkSync(`/proc/${pid}/ns/user`) !== readlinkSync('/proc/self/ns/user');
    const user = hasUserNamespace ? ['--preserve-credentials', `--user=/proc/${pid}/ns/user`] : [];
    return {
      /** Arguments that start a program in this network. */
      entryArgs: [nsenter, ...user, `--net=/proc/${pid}/ns/net`, '--'],
      isOpen: (): boolean => isOpen,
      close: () => void child.kill('SIGKILL'),
    };
  } catch (thrown) {
    child.kill('SIGKILL');
    throw thrown;
  }
}

/** Waits until the bridge listens and returns its process id. */
async function waitForBridge(child: ChildProcess): Promise<number> {
  let errorOutput = '';
  child.stderr?.setEncoding('utf8').on('data', (text: string) => {
    errorOutput += text;
  });
  const exited = new Promise<never>((_, reject) => {
    child.on('error', reject);
    child.on('close', (code) => reject(new Error(errorOutput.trim().split('\n')[0] || `it exited with ${code}`)));
  });
  const [info] = await Promise.race([
    Promise.all([readUntil(child.stdio[3], '}'), readUntil(child.stdout, 'open')]),
    exited,
  ]);
  exited.catch(() => undefined);
  for (const stream of [child.stdout, child.stderr, child.stdio[3]]) stream?.destroy();
  return infoSchema.parse(JSON.parse(info))['child-pid'];
}

function readUntil(stream: ChildProcess['stdio'][number], mark: string): Promise<string> {
  return new Promise((resolve) => {
    let text = '';
    if (!isReadable(stream)) return;
    stream.setEncoding('utf8').on('data', (more: string) => {
      text += more;
      if (text.includes(mark)) resolve(text);
    });
  });
}

function isReadable(stream: unknown): stream is Readable {
  return typeof stream === 'object' && stream !== null && 'setEncoding' in stream;
}
