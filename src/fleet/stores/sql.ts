/** Anything a column holds. */
export type SqlValue = string | number | bigint | boolean | null | Uint8Array;
export type Row = Readonly<Record<string, unknown>>;

/** One transaction. Parameters are written `?`. */
export type Transaction = {
  all(text: string, ...values: readonly SqlValue[]): Promise<readonly Row[]>;
  /** The time of the store, in milliseconds: one clock for all machines. */
  now(): Promise<number>;
};

/** A database with tables of ours. One transaction at a time per process: the others wait. */
export type Sql = {
  transaction<Answer>(work: (tx: Transaction) => Promise<Answer>): Promise<Answer>;
  /** Behind a SELECT: nobody else changes these rows before the transaction ends. */
  readonly forUpdate: string;
  /** What whoever makes tables runs first, so that two who begin at once do so one after the other. */
  readonly alone: readonly string[];
  /** The type of columns that hold bytes. */
  readonly bytes: string;
  close(): Promise<void>;
};

/** Does work one piece after the other, whatever becomes of those before. */
export function inTurn(): <Answer>(work: () => Promise<Answer>) => Promise<Answer> {
  let last: Promise<unknown> = Promise.resolve();
  return (work) => {
    const mine = last.then(work, work);
    last = mine.catch(() => undefined);
    return mine;
  };
}

/** `?, ?, ?` for so many values. */
export const places = (count: number): string => Array.from({ length: count }, () => '?').join(', ');
