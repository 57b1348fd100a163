import { createToolFactsLookup } from '../../permissions/create-decision-context.ts';
import { TOOL_TRAITS } from '../../tools/tool-traits.ts';

/** Returns what a call of a built-in tool would touch. */
export const getToolFacts = createToolFactsLookup(TOOL_TRAITS);
