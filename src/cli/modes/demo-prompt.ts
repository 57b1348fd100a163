/** The default prompt of the demo. */
export const DEMO_PROMPT = 'One of the tests fails. Find out why and fix it.';
