/** What the rules find and is not mended yet. It only becomes shorter. */
export const OWED: readonly string[] = [
  'permissions/gate.ts: createGate has',
  'model/wire/from-wire.ts: createAccumulator has',
  'model/wire/openai-from-wire.ts: createChunkReader has',
  'app/permissions/told.ts: joins no capability, so it belongs there',
];
