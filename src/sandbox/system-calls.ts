/** A processor as its kernel names it, and the calls of it that are refused. */
const MACHINES = {
  x64: { audit: 0xc000003e, socket: 41 },
  arm64: { audit: 0xc00000b7, socket: 198 },
} as const;

const IO_URING_SETUP = 425;
const AF_UNIX = 1;
/** From here on calls of the x32 kind, with numbers of their own. */
const X32 = 0x40000000;

const LOAD = 0x20;
const EQUAL = 0x15;
const AT_LEAST = 0x35;
const RETURN = 0x06;
const ALLOWED = 0x7fff0000;
const NOT_PERMITTED = 0x00050001;

/**
 * The filter of system calls as the kernel reads it: no Unix socket is made (a daemon outside that listens on one does
 * what it is told), nor a ring that would make one unseen. Pairs of sockets go on working.
 */
export function socketFilter(processor: string): Uint8Array | undefined {
  if (processor !== 'x64' && processor !== 'arm64') return undefined;
  const { audit, socket } = MACHINES[processor];
  // Each: what, how far to go on when it is so and when not, and with which value.
  const program: readonly (readonly [number, number, number, number])[] = [
    [LOAD, 0, 0, 4],
    [EQUAL, 1, 0, audit],
    [RETURN, 0, 0, NOT_PERMITTED],
    [LOAD, 0, 0, 0],
    [AT_LEAST, 5, 0, X32],
    [EQUAL, 4, 0, IO_URING_SETUP],
    [EQUAL, 0, 2, socket],
    [LOAD, 0, 0, 16],
    [EQUAL, 1, 0, AF_UNIX],
    [RETURN, 0, 0, ALLOWED],
    [RETURN, 0, 0, NOT_PERMITTED],
  ];
  const bytes = new DataView(new ArrayBuffer(program.length * 8));
  program.forEach(([code, ifSo, ifNot, value], at) => {
    bytes.setUint16(at * 8, code, true);
    bytes.setUint8(at * 8 + 2, ifSo);
    bytes.setUint8(at * 8 + 3, ifNot);
    bytes.setUint32(at * 8 + 4, value, true);
  });
  return new Uint8Array(bytes.buffer);
}
