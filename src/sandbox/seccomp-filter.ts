import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { computeShortHash } from '../lib/text/short-hash.ts';
import type { SandboxPlan } from './plan.ts';

/** Audit architecture and system call numbers of each supported processor. */
const MACHINES = {
  x64: {
    ...{ audit: 0xc000003e, socket: 41, socketpair: 53, ioctl: 16, clone: 56, unshare: 272 },
    refused: [
      ...[248, 249, 250, 298, 308, 321, 323],
      // Mounts, roots, handles of hidden files, kernel modules, clocks, swap, ports.
      ...[155, 161, 163, 164, 165, 166, 167, 168, 169, 170, 171, 172, 173, 175, 176, 179, 227, 246, 300, 303, 304],
      ...[313, 320],
    ],
    inspects: [101, 310, 311, 312],
    changesMode: [
      [90, 1],
      [91, 1],
      [268, 2],
      [452, 2],
    ],
    // Call number, index of the flags argument, index of the mode argument.
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
    ...{ audit: 0xc00000b7, socket: 198, socketpair: 199, ioctl: 29, clone: 220, unshare: 97 },
    refused: [
      ...[217, 218, 219, 241, 268, 280, 282],
      ...[39, 40, 41, 51, 60, 89, 104, 105, 106, 112, 142, 161, 162, 170, 224, 225, 262, 264, 265, 273, 294],
    ],
    inspects: [117, 270, 271, 272],
    changesMode: [
      [52, 1],
      [53, 2],
      [452, 2],
    ],
    opens: [[56, 2, 3]],
    creates: [[33, 2]],
  },
} as const;

/** io_uring can create sockets that the filter does not see. */
const IO_URING = [425, 426, 427];
/** The newer mount calls, and the one that takes a descriptor from another process. */
const NEW_MOUNT_CALLS = [428, 429, 430, 431, 432, 433, 438, 442];
const CLONE3 = 435;
/** Its arguments are in memory, which a filter cannot read. */
const OPENAT2 = 437;
/** The setuid bit: other users of the machine could run such a file with the user's rights. */
const SET_UID = 0o4000;
/** Open flags that create a file: O_CREAT and O_TMPFILE. */
const CREATE_FLAGS = 0o100 | 0o20000000;
const CLONE_NEWUSER = 0x10000000;
const FAMILIES = { unix: 1, internet: 2, internet6: 10, netlink: 16 } as const;
const SOCK_DGRAM = 2;
const SOCKET_TYPE_MASK = 0xf;
/** ioctl calls that inject input into a terminal. */
const TIOCSTI = 0x5412;
const TIOCLINUX = 0x541c;
/** Calls of the x32 ABI have this bit set. */
const X32 = 0x40000000;

// BPF instructions and return values.
const LOAD = 0x20;
const AND = 0x54;
const EQUAL = 0x15;
const AT_LEAST = 0x35;
const HAS_BIT = 0x45;
const RETURN = 0x06;
const ALLOWED = 0x7fff0000;
const NOT_PERMITTED = 0x00050001;
/** ENOSYS: libraries then fall back to older calls, whose arguments the filter can read. */
const NO_SYSTEM_CALL = 0x00050026;

/** One BPF instruction: code, jump if true, jump if false, value. */
type Instruction = readonly [number, number, number, number];

const NUMBER = 0;
const ARCHITECTURE = 4;
const argumentOffset = (index: number) => 16 + index * 8;

/**
 * The sockets that a filter lets commands create; pairs of stream sockets always work. `internet` is for a network of
 * the command's own: without netlink, nothing there looks like an empty list of the host's addresses.
 */
export type SocketPolicy = 'internet' | 'network' | 'network and unix';

/**
 * Builds the seccomp filter. Through Unix and vsock sockets a command could control daemons outside the sandbox. Setuid
 * files, namespaces, mounts, keyrings, BPF programs, performance counters and terminal input injection are refused;
 * in a network of its own also access to the memory of other processes.
 */
function callFilter(processor: string, sockets: SocketPolicy): Uint8Array | undefined {
  if (processor !== 'x64' && processor !== 'arm64') return undefined;
  const { audit, socket, socketpair, ioctl, clone, unshare, refused, inspects, changesMode, opens, creates } =
    MACHINES[processor];
  const { unix, internet, internet6, netlink } = FAMILIES;
  const network = [internet, internet6, netlink];
  const families = { internet: [internet, internet6], network, 'network and unix': [...network, unix] }[sockets];
  const refusedCalls = [...IO_URING, ...NEW_MOUNT_CALLS, ...refused, ...(sockets === 'internet' ? inspects : [])];
  return encodeProgram([
    [LOAD, 0, 0, ARCHITECTURE],
    [EQUAL, 1, 0, audit],
    [RETURN, 0, 0, NOT_PERMITTED],
    [LOAD, 0, 0, NUMBER],
    [AT_LEAST, 0, 1, X32],
    [RETURN, 0, 0, NOT_PERMITTED],
    ...refusedCalls.flatMap((call) => onCall(call, [[RETURN, 0, 0, NOT_PERMITTED]])),
    ...[CLONE3, OPENAT2].flatMap((call) => onCall(call, [[RETURN, 0, 0, NO_SYSTEM_CALL]])),
    ...[...changesMode, ...creates].flatMap(([call, mode]) =>
      onCall(call, denyIfArgument(argumentOffset(mode), HAS_BIT, [SET_UID])),
    ),
    ...opens.flatMap(([call, flags, mode]) => onCall(call, denySetUidCreation(flags, mode))),
    ...onCall(clone, denyIfArgument(argumentOffset(0), HAS_BIT, [CLONE_NEWUSER])),
    ...onCall(unshare, denyIfArgument(argumentOffset(0), HAS_BIT, [CLONE_NEWUSER])),
    ...onCall(ioctl, denyIfArgument(argumentOffset(1), EQUAL, [TIOCSTI, TIOCLINUX])),
    ...(sockets === 'network and unix' ? [] : onCall(socketpair, denyDatagramPair())),
    ...onCall(socket, [
      [LOAD, 0, 0, argumentOffset(0)],
      ...families.flatMap((family): readonly Instruction[] => [
        [EQUAL, 0, 1, family],
        [RETURN, 0, 0, ALLOWED],
      ]),
      [RETURN, 0, 0, NOT_PERMITTED],
    ]),
    [RETURN, 0, 0, ALLOWED],
  ]);
}

/** Writes the compiled filter to a file, unless it is there already; returns nothing on an unsupported processor. */
export function writeSeccompFilter(folder: string, sockets: SocketPolicy): Pick<SandboxPlan, 'seccompFilter'> {
  const bytes = callFilter(process.arch, sockets);
  if (bytes === undefined) return {};
  const seccompFilter = join(folder, `filter-${computeShortHash(Buffer.from(bytes).toString('hex'), 8)}.bin`);
  if (hasContent(seccompFilter, bytes)) return { seccompFilter };
  mkdirSync(folder, { recursive: true, mode: 0o700 });
  writeFileSync(seccompFilter, bytes, { mode: 0o600 });
  return { seccompFilter };
}

function hasContent(path: string, bytes: Uint8Array): boolean {
  try {
    return readFileSync(path).equals(bytes);
  } catch {
    return false;
  }
}

/** Runs the instructions for one system call; they must end with a return. */
function onCall(call: number, instructions: readonly Instruction[]): readonly Instruction[] {
  return [[EQUAL, 0, instructions.length, call], ...instructions];
}

/** The mode argument counts only if the flags create a file. */
function denySetUidCreation(flags: number, mode: number): readonly Instruction[] {
  return [
    [LOAD, 0, 0, argumentOffset(flags)],
    [HAS_BIT, 0, 3, CREATE_FLAGS],
    [LOAD, 0, 0, argumentOffset(mode)],
    [HAS_BIT, 0, 1, SET_UID],
    [RETURN, 0, 0, NOT_PERMITTED],
    [RETURN, 0, 0, ALLOWED],
  ];
}

/** One end of a pair of datagram sockets can send to any other socket, so only the other types are allowed. */
function denyDatagramPair(): readonly Instruction[] {
  return [
    [LOAD, 0, 0, argumentOffset(1)],
    [AND, 0, 0, SOCKET_TYPE_MASK],
    [EQUAL, 0, 1, SOCK_DGRAM],
    [RETURN, 0, 0, NOT_PERMITTED],
    [RETURN, 0, 0, ALLOWED],
  ];
}

function denyIfArgument(offset: number, test: number, values: readonly number[]): readonly Instruction[] {
  return [
    [LOAD, 0, 0, offset],
    ...values.flatMap((value): readonly Instruction[] => [
      [test, 0, 1, value],
      [RETURN, 0, 0, NOT_PERMITTED],
    ]),
    [RETURN, 0, 0, ALLOWED],
  ];
}

function encodeProgram(program: readonly Instruction[]): Uint8Array {
  const bytes = new DataView(new ArrayBuffer(program.length * 8));
  program.forEach(([code, ifTrue, ifFalse, value], index) => {
    bytes.setUint16(index * 8, code, true);
    bytes.setUint8(index * 8 + 2, ifTrue);
    bytes.setUint8(index * 8 + 3, ifFalse);
    bytes.setUint32(index * 8 + 4, value, true);
  });
  return new Uint8Array(bytes.buffer);
}
