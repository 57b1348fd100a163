/** What the rules find and is not mended yet. It only becomes shorter. */
export const OWED: readonly string[] = [
  'permissions/gate.ts: createGate has',
  'app/permissions/told.ts: joins no capability, so it belongs there',
];
