import { messageOf } from '../../lib/errors.ts';
import { errnoOf } from '../../lib/files/errno.ts';

/** The store cannot be reached now. Whoever has work in hand keeps it and tries again. */
export class StoreAway extends Error {
  override readonly name = 'StoreAway';
}

/** Of Postgres: connection lost, shutting down, starting, too many, timeouts of locks and statements, a deadlock. */
const PASSING = /^(?:08...|57P0[123]|53300|55P03|57014|25P0[34]|40P01|40001)$/;
/** Five signs with a digit among them: the server has answered, and said what is wrong. */
const ANSWERED = /^(?=.*\d)[0-9A-Z]{5}$/;

/**
 * What a server, or the way to it, has thrown: as `StoreAway` when it will pass. Sockets, pools and drivers have many
 * words for a connection that is gone, and other ones on each system; what the server itself refuses has a code.
 */
export function awayOrSame(thrown: unknown): unknown {
  const code = errnoOf(thrown) ?? '';
  if (thrown instanceof StoreAway || (ANSWERED.test(code) && !PASSING.test(code))) return thrown;
  return new StoreAway(`The queue cannot be reached: ${messageOf(thrown) || code}.`, { cause: thrown });
}

/** Only for what a server or the way to it throws: a fault in the work itself stays one. */
export function goneAway(thrown: unknown): never {
  throw awayOrSame(thrown);
}
