import type { ByteReader } from './byte-reader.ts';
import { type Goal, readGoal } from './host-pattern.ts';

/** What a program that speaks SOCKS 5 wants, or that it wants what there is not and was told so. */
export type SocksRequest =
  | { readonly kind: 'connect'; readonly goal: Goal | undefined; readonly spelled: string; readonly token: string }
  | { readonly kind: 'none' };

const SOCKS_ANSWERS = { well: 0, refused: 2, unreachable: 4, unknown: 7 } as const;

const NO_NAME_NEEDED = 0;
const NAME_AND_PASSWORD = 2;
const CONNECT = 1;

/** Reads the whole conversation that comes before the bytes; `write` answers in it. */
export async function readSocks(bytes: ByteReader, write: (answer: Uint8Array) => void): Promise<SocksRequest> {
  const [, count = 0] = await bytes.take(2);
  const methods = [...(await bytes.take(count))];
  const wantsName = methods.includes(NAME_AND_PASSWORD);
  if (!wantsName && !methods.includes(NO_NAME_NEEDED)) {
    write(Uint8Array.of(5, 0xff));
    return { kind: 'none' };
  }
  write(Uint8Array.of(5, wantsName ? NAME_AND_PASSWORD : NO_NAME_NEEDED));
  const token = wantsName ? await readToken(bytes) : '';
  if (wantsName) write(Uint8Array.of(1, 0));
  const [, command, , kind = 0] = await bytes.take(4);
  const spelled = await readHost(bytes, kind);
  const [high = 0, low = 0] = await bytes.take(2);
  if (command !== CONNECT || spelled === undefined) {
    write(socksAnswer('unknown'));
    return { kind: 'none' };
  }
  return { kind: 'connect', goal: readGoal(spelled, high * 256 + low), spelled, token };
}

/** The answer that ends it; programs look at its second byte. */
export function socksAnswer(answer: keyof typeof SOCKS_ANSWERS): Uint8Array {
  return Uint8Array.of(5, SOCKS_ANSWERS[answer], 0, 1, 0, 0, 0, 0, 0, 0);
}

async function readToken(bytes: ByteReader): Promise<string> {
  const [, nameLength = 0] = await bytes.take(2);
  await bytes.take(nameLength);
  const [length = 0] = await bytes.take(1);
  return Buffer.from(await bytes.take(length)).toString('latin1');
}

/** An address of four or sixteen bytes, or a name; each byte of it counts, a NUL too. */
async function readHost(bytes: ByteReader, kind: number): Promise<string | undefined> {
  if (kind === 1) return [...(await bytes.take(4))].join('.');
  if (kind === 3) {
    const [length = 0] = await bytes.take(1);
    return Buffer.from(await bytes.take(length)).toString('utf8');
  }
  if (kind !== 4) return undefined;
  const address = Buffer.from(await bytes.take(16));
  return Array.from({ length: 8 }, (_, at) => address.readUInt16BE(at * 2).toString(16)).join(':');
}
