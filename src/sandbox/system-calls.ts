/** A processor as its kernel names it, and the numbers of the calls that are looked at. */
const MACHINES = {
  x64: {
    ...{ audit: 0xc000003e, socket: 41, ioctl: 16, clone: 56, unshare: 272 },
    refused: [248, 249, 250, 298, 308, 321, 323],
    changesMode: [
      [90, 1],
      [91, 1],
      [268, 2],
      [452, 2],
    ],
    // Each with the places of its flags and of the mode.
    opens: [
      [2, 1, 2],
      [257, 2, 3],
    ],
    creates: [
      [85, 1],
      [133, 1],
      [259, 2],
    ],
  },
  arm64: {
    ...{ audit: 0xc00000b7, socket: 198, ioctl: 29, clone: 220, unshare: 97 },
    refused: [217, 218, 219, 241, 268, 280, 282],
    changesMode: [
      [52, 1],
      [53, 2],
      [452, 2],
    ],
    opens: [[56, 2, 3]],
    creates: [[33, 2]],
  },
} as const;

/** The same on both: a ring would make sockets unseen. */
const IO_URING = [425, 426, 427];
const CLONE3 = 435;
/** Opens a file by a description in memory that no filter sees. */
const OPENAT2 = 437;
/** A program that runs as whoever it belongs to: others on this machine would get that. */
const SET_USER = 0o4000;
/** Flags by which opening makes a file. */
const MAKES = 0o100 | 0o20000000;
const CLONE_NEWUSER = 0x10000000;
const FAMILIES = { unix: 1, internet: 2, internet6: 10, netlink: 16 } as const;
/** Typing for the person, into a terminal. */
const TIOCSTI = 0x5412;
const TIOCLINUX = 0x541c;
/** From here on calls of the x32 kind, with numbers of their own. */
const X32 = 0x40000000;

const LOAD = 0x20;
const EQUAL = 0x15;
const AT_LEAST = 0x35;
const HAS_BIT = 0x45;
const RETURN = 0x06;
const ALLOWED = 0x7fff0000;
const NOT_PERMITTED = 0x00050001;
/** For what looks into memory: libraries then go the older way, which can be looked at. */
const NOT_THERE = 0x00050026;

/** Each: what, how far to go on when it is so and when not, and with which value. */
type Step = readonly [number, number, number, number];

const NUMBER = 0;
const ARCHITECTURE = 4;
const argument = (index: number) => 16 + index * 8;

/**
 * The filter of system calls as the kernel reads it. Sockets are made for the network alone: a daemon outside that
 * listens on a Unix socket does what it is told, and one of the host of a virtual machine too; pairs of sockets go on
 * working. No file becomes a program that runs as its owner. No namespace of users is made, in which one would be root and could try everything. Keyrings, programs
 * inside the kernel, counters of performance and typing into terminals are refused.
 */
export function callFilter(processor: string, unixSockets: 'refused' | 'made'): Uint8Array | undefined {
  if (processor !== 'x64' && processor !== 'arm64') return undefined;
  const { audit, socket, ioctl, clone, unshare, refused, changesMode, opens, creates } = MACHINES[processor];
  const { unix, ...others } = FAMILIES;
  const families = [...Object.values(others), ...(unixSockets === 'made' ? [unix] : [])];
  return bytesOf([
    [LOAD, 0, 0, ARCHITECTURE],
    [EQUAL, 1, 0, audit],
    [RETURN, 0, 0, NOT_PERMITTED],
    [LOAD, 0, 0, NUMBER],
    [AT_LEAST, 0, 1, X32],
    [RETURN, 0, 0, NOT_PERMITTED],
    ...[...IO_URING, ...refused].flatMap((call) => when(call, [[RETURN, 0, 0, NOT_PERMITTED]])),
    ...[CLONE3, OPENAT2].flatMap((call) => when(call, [[RETURN, 0, 0, NOT_THERE]])),
    ...[...changesMode, ...creates].flatMap(([call, mode]) =>
      when(call, refusedWith(argument(mode), HAS_BIT, [SET_USER])),
    ),
    ...opens.flatMap(([call, flags, mode]) => when(call, refusedWhenMade(flags, mode))),
    ...when(clone, refusedWith(argument(0), HAS_BIT, [CLONE_NEWUSER])),
    ...when(unshare, refusedWith(argument(0), HAS_BIT, [CLONE_NEWUSER])),
    ...when(ioctl, refusedWith(argument(1), EQUAL, [TIOCSTI, TIOCLINUX])),
    ...when(socket, [
      [LOAD, 0, 0, argument(0)],
      ...families.flatMap((family): readonly Step[] => [
        [EQUAL, 0, 1, family],
        [RETURN, 0, 0, ALLOWED],
      ]),
      [RETURN, 0, 0, NOT_PERMITTED],
    ]),
    [RETURN, 0, 0, ALLOWED],
  ]);
}

/** These steps for this call; they end by an answer. */
function when(call: number, steps: readonly Step[]): readonly Step[] {
  return [[EQUAL, 0, steps.length, call], ...steps];
}

/** The mode says something only where a file is made. */
function refusedWhenMade(flags: number, mode: number): readonly Step[] {
  return [
    [LOAD, 0, 0, argument(flags)],
    [HAS_BIT, 0, 3, MAKES],
    [LOAD, 0, 0, argument(mode)],
    [HAS_BIT, 0, 1, SET_USER],
    [RETURN, 0, 0, NOT_PERMITTED],
    [RETURN, 0, 0, ALLOWED],
  ];
}

function refusedWith(place: number, test: number, values: readonly number[]): readonly Step[] {
  return [
    [LOAD, 0, 0, place],
    ...values.flatMap((value): readonly Step[] => [
      [test, 0, 1, value],
      [RETURN, 0, 0, NOT_PERMITTED],
    ]),
    [RETURN, 0, 0, ALLOWED],
  ];
}

function bytesOf(program: readonly Step[]): Uint8Array {
  const bytes = new DataView(new ArrayBuffer(program.length * 8));
  program.forEach(([code, ifSo, ifNot, value], at) => {
    bytes.setUint16(at * 8, code, true);
    bytes.setUint8(at * 8 + 2, ifSo);
    bytes.setUint8(at * 8 + 3, ifNot);
    bytes.setUint32(at * 8 + 4, value, true);
  });
  return new Uint8Array(bytes.buffer);
}
