/** Lets what takes time to be read through in the order it was begun, however long each takes. */
export type InOrder = <Read>(reading: Promise<Read>) => Promise<Read>;

/** One order; what fails holds nobody up. */
export function createInOrder(): InOrder {
  let last: Promise<unknown> = Promise.resolve();
  return (reading) => {
    const inTurn = last.then(() => reading);
    last = inTurn.catch(() => undefined);
    return inTurn;
  };
}
