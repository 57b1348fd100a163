import { factsFrom } from '../../permissions/facts.ts';
import { TOOL_STATEMENTS } from '../../tools/statements.ts';

/** What a call of any of our tools would touch, as its tool says. */
export const factsOf = factsFrom(TOOL_STATEMENTS);
