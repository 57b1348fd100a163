import { PLAIN_ANSWERS } from './read-only-answers.ts';
import type { ReadOnlyCommand } from './read-only-command.ts';
import { FILE_READERS } from './read-only-files.ts';

/** Programs that only read, with every option that was looked at. What is not here asks. */
export const READ_ONLY: Readonly<Record<string, ReadOnlyCommand>> = { ...FILE_READERS, ...PLAIN_ANSWERS };
