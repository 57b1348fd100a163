import type { JsonObject } from '../../contracts/json.ts';
import type { Terminal } from '../../contracts/terminal.ts';

/** A run that had to end with an answer in a form, and ended without one, has failed. */
export function heldToForm(terminal: Terminal, schema: JsonObject | undefined): Terminal {
  if (schema === undefined || terminal.reason !== 'completed' || terminal.structuredOutput !== undefined)
    return terminal;
  const words = 'The model answered in words only, not in the form that was asked for.';
  return { reason: 'structured_output_failed', words };
}
