import { messageOf } from '../../lib/errors.ts';
import { errnoOf } from '../../lib/files/errno.ts';

/** The store cannot be reached now. Whoever has work in hand keeps it and tries again. */
export class StoreAway extends Error {
  override readonly name = 'StoreAway';
}

const AWAY = ['ECONNREFUSED', 'ECONNRESET', 'EPIPE', 'ETIMEDOUT', 'ENOTFOUND', 'EAI_AGAIN', 'EHOSTUNREACH', 'ENOENT'];
/** Of Postgres: connection lost, shutting down, starting, too many, timeouts of locks and statements, a deadlock. */
const PASSING = /^(?:08...|57P0[123]|53300|55P03|57014|25P03|40P01|40001)$/;
const WORDS = /Connection terminated|timeout exceeded when trying to connect|already settled|Client has encountered/i;

/** What was thrown, as `StoreAway` when it will pass. */
export function awayOrSame(thrown: unknown): unknown {
  const code = errnoOf(thrown) ?? '';
  const passes = AWAY.includes(code) || PASSING.test(code) || WORDS.test(messageOf(thrown));
  return passes
    ? new StoreAway(`The queue cannot be reached: ${messageOf(thrown) || code}.`, { cause: thrown })
    : thrown;
}
