import { getErrnoCode, getErrorMessage } from '../../lib/errors.ts';

/** The store is temporarily unavailable. Running attempts continue and report later. */
export class StoreUnavailable extends Error {
  override readonly name = 'StoreUnavailable';
}

/** The file of a store is damaged. Nothing in it is used any more. */
export class StoreDamaged extends Error {
  override readonly name = 'StoreDamaged';
  constructor(file: string, problem: string) {
    super(
      `The queue file ${file} is damaged: ${problem}. Move it and the files ${file}-* away; the next command creates a ` +
        `new one. Save what is left with: sqlite3 ${file} .recover`,
    );
  }
}

/** Temporary Postgres errors: connection lost, shutdown, startup, too many connections, timeouts, deadlocks. */
const TEMPORARY = /^(?:08...|57P0[123]|53300|55P03|57014|25P0[34]|40P01|40001)$/;
/** The form of an SQLSTATE, with a digit: the error is from the server itself. */
const SQLSTATE = /^(?=.*\d)[0-9A-Z]{5}$/;

/**
 * Converts a temporary error of the database connection to `StoreUnavailable`. Sockets, pools and drivers report a lost
 * connection in many ways, so everything counts as lost except errors with an SQLSTATE that is not temporary.
 */
export function convertConnectionError(thrown: unknown): unknown {
  const code = getErrnoCode(thrown) ?? '';
  if (thrown instanceof StoreUnavailable || (SQLSTATE.test(code) && !TEMPORARY.test(code))) return thrown;
  return new StoreUnavailable(`The queue cannot be reached: ${getErrorMessage(thrown) || code}.`, { cause: thrown });
}

/** Rethrows an error of the database connection, converted. Not for errors of the code in a transaction. */
export function rethrowAsStoreError(thrown: unknown): never {
  throw convertConnectionError(thrown);
}
