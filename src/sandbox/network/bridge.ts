import { type ChildProcess, spawn } from 'node:child_process';
import { readlinkSync } from 'node:fs';
import type { Readable } from 'node:stream';
import { z } from 'zod';

/** A network of its own, with nothing in it but a door to us. Commands that enter it reach each other, and us. */
export type Bridge = {
  /** In front of a program: puts it into this network. */
  readonly enter: readonly string[];
  readonly isOpen: () => boolean;
  close(): void;
};

export type BridgeParts = {
  readonly bwrap: string;
  readonly nsenter: string;
  /** What runs the code at the door: the runtime we run in ourselves. */
  readonly runtime: string;
  /** Where we listen. */
  readonly socket: string;
  readonly port: number;
};

/**
 * All that runs in there: hands each connection on to us, under the address it was made to, by which we know whose it
 * is. It is a text because it runs in a process of its own, also where all of ouro is one file.
 */
const DOOR = `
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

/** Makes the network and waits until its door is open. Rejects with what is wrong. */
export async function openBridge({ bwrap, nsenter, runtime, socket, port }: BridgeParts): Promise<Bridge> {
  const words = [
    ...['--ro-bind', '/', '/', '--dev-bind', '/dev', '/dev', '--unshare-net', '--die-with-parent', '--new-session'],
    ...['--info-fd', '3', '--', runtime, '-e', DOOR, socket, String(port)],
  ];
  // An executable of ours is a plain runtime with it.
  const env = { BUN_BE_BUN: '1' };
  const child = spawn(bwrap, words, { cwd: '/', env, stdio: ['ignore', 'pipe', 'pipe', 'pipe'] });
  child.unref();
  let isOpen = true;
  child.on('exit', () => {
    isOpen = false;
  });
  try {
    const pid = await doorkeeper(child);
    const isOther = readlinkSync(`/proc/${pid}/ns/user`) !== readlinkSync('/proc/self/ns/user');
    const user = isOther ? ['--preserve-credentials', `--user=/proc/${pid}/ns/user`] : [];
    return {
      enter: [nsenter, ...user, `--net=/proc/${pid}/ns/net`, '--'],
      isOpen: () => isOpen,
      close: () => void child.kill('SIGKILL'),
    };
  } catch (thrown) {
    child.kill('SIGKILL');
    throw thrown;
  }
}

/** The number of the process at the door, once that is open. */
async function doorkeeper(child: ChildProcess): Promise<number> {
  let complaints = '';
  child.stderr?.setEncoding('utf8').on('data', (text: string) => {
    complaints += text;
  });
  const gone = new Promise<never>((_, reject) => {
    child.on('error', reject);
    child.on('close', (code) => reject(new Error(complaints.trim().split('\n')[0] || `it ended with ${code}`)));
  });
  const [info] = await Promise.race([
    Promise.all([textUntil(child.stdio[3], '}'), textUntil(child.stdout, 'open')]),
    gone,
  ]);
  gone.catch(() => undefined);
  for (const stream of [child.stdout, child.stderr, child.stdio[3]]) stream?.destroy();
  return infoSchema.parse(JSON.parse(info))['child-pid'];
}

function textUntil(stream: ChildProcess['stdio'][number], mark: string): Promise<string> {
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
