import type { Drawing } from '../text/drawing.ts';
import { type LogicalLine, plain, terminalLine, toned } from '../text/line.ts';
import { type SessionList, sessionChoices } from '../view/overlay.ts';
import { choiceLines } from './choice-lines.ts';

const WHERE = { folder: 'this folder', branch: 'this branch', all: 'everywhere' } as const;
const KEYS = ['enter opens', 'right looks', 'ctrl+r renames', 'ctrl+f copies', 'ctrl+d deletes', 'esc'];

/** The list of sessions: what is searched for, the sessions that fit, and what can be done with them. */
export function sessionLines(
  list: SessionList,
  branch: string | undefined,
  drawing: Drawing,
  rows: number,
): readonly LogicalLine[] {
  const scopes = branch === undefined ? 'folder or everywhere' : 'folder, everywhere, branch';
  const choices = sessionChoices(list);
  const count = `   ${WHERE[list.scope]}${drawing.glyphs.separator}${choices.length} of ${list.choices.length}   tab: ${scopes}`;
  const head = terminalLine({ text: 'Resume', style: { bold: true } }, plain(`  > ${list.query}`), toned('dim', count));
  const foot = terminalLine(footSpan(list, drawing));
  const none = terminalLine(toned('dim', list.query === '' ? '  No other session yet.' : '  No session says that.'));
  const lines = choices.length === 0 ? [none] : choiceLines(choices, list, drawing, Math.max(1, rows - 2));
  return rows > 2 ? [head, ...lines, foot] : [head, ...lines];
}

function footSpan({ doing }: SessionList, { glyphs }: Drawing) {
  switch (doing.type) {
    case 'renaming':
      return plain(`  new name: ${doing.words}_`);
    case 'removing':
      return toned('warn', '  ctrl+d again deletes it for good; any other key keeps it');
    default:
      return toned('dim', `  ${KEYS.join(glyphs.separator)}`);
  }
}
