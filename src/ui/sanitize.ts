const SEQUENCES = /\u001b(?:\[[0-?]*[ -/]*[@-~]|[\]PX^_][^\u0007\u001b]*(?:\u0007|\u001b\\)?|[ -/]*[0-~])?/g;
const CONTROLS = /[\u0000-\u0008\u000b-\u001f\u007f-\u009f]/g;
const DIRECTIONS = /[\u202a-\u202e\u2066-\u2069]/g;
const INVISIBLE =
  /\u034f|[\u00ad\u061c\u115f\u1160\u17b4\u17b5\u180e\u200b-\u200f\u202a-\u202e\u2060-\u206f\u3164\ufeff\uffa0]/g;

/** Text of others as it may reach the terminal: no sequences, no control characters, nothing that turns it around. */
export function sanitize(text: string): string {
  return text
    .replace(/\r\n/g, '\n')
    .replace(/^.*\r(?!$)/gm, '')
    .replace(SEQUENCES, '')
    .replace(CONTROLS, '')
    .replace(DIRECTIONS, '');
}

/** A command or an address as it may be judged: what does not show is written out. */
export function sanitizeVisibly(text: string): string {
  const shown = text
    .replace(/\r\n/g, '\n')
    .replace(/[\u0000-\u0008\u000b-\u001f\u007f-\u009f]/g, named)
    .replace(INVISIBLE, named);
  return shown;
}

function named(character: string): string {
  const code = character.charCodeAt(0).toString(16).toUpperCase().padStart(4, '0');
  return `‹U+${code}›`;
}
