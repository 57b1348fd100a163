import { existsSync } from 'node:fs';
import { join } from 'node:path';

/** Where CI puts other people's programs that are too large to be dependencies; see `.ci/run`. */
const FOLDER = process.env.OURO_TEST_CLIENTS ?? '';

/** Why what needs them is left out; `undefined` when they are here. */
export const NO_CLIENTS = existsSync(join(FOLDER, 'acpx'))
  ? undefined
  : "Other people's programs are not here: what drives ouro by them was left out.";

/** A file of one of these packages. */
export const clientFile = (path: string): string => join(FOLDER, path);

/** Some of them want a newer Node than the one that tests run with. */
export const CLIENT_NODE = clientFile('node24/bin/node');
