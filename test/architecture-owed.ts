/** What the rules find and is not mended yet. It only becomes shorter. */
export const OWED: readonly string[] = [];
