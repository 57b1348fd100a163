import { existsSync } from 'node:fs';
import { join } from 'node:path';

/** The folder in which CI installs third-party programs that are too large to be dependencies; see `.ci/run`. */
const FOLDER = process.env.OURO_TEST_CLIENTS ?? '';

/** The reason to skip tests that need them; `undefined` if they are installed. */
export const NO_CLIENTS = existsSync(join(FOLDER, 'acpx'))
  ? undefined
  : "Other people's programs are not here: what drives ouro by them was left out.";

/** A file of one of these packages. */
export const clientFile = (path: string): string => join(FOLDER, path);

/** Some of them want a newer Node than the one that tests run with. */
export const CLIENT_NODE = clientFile('node24/bin/node');
