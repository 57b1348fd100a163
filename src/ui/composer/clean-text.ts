// CSI and OSC sequences go as a whole, so that pasted colours do not leave `[31m` behind.
const SEQUENCES = /\u001b(?:\[[0-?]*[ -/]*[@-~]|\][^\u0007\u001b]*(?:\u0007|\u001b\\)|[@-Z\\-_])?/g;
const CONTROLS = /[\u0000-\u0008\u000b-\u001f\u007f-\u009f]/g;
const FOLD_PLANE = /[\u{100000}-\u{10ffff}]/gu;

/** Text that may enter a draft: no escape sequences, no control characters but tab and newline, `\n` line ends. */
export function draftSafe(text: string): string {
  return text
    .replace(/\r\n?/g, '\n')
    .replace(SEQUENCES, '')
    .replace(CONTROLS, '')
    .toWellFormed()
    .replace(FOLD_PLANE, '\ufffd');
}
