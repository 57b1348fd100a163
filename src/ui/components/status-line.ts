import { formatMoney, formatUsage } from '../../lib/text/format.ts';
import { sanitizeScreen } from '../../lib/text/sanitize.ts';
import type { Drawing } from '../text/drawing.ts';
import { type LogicalLine, plain, type Span, terminalLine, toned } from '../text/line.ts';
import type { ViewState } from '../view/view-state.ts';

const NARROW = 60;
const ROOMY_ROWS = 16;
const FULL_PERCENT = 80;

/** The words of the permission modes as they are shown. */
const MODE_WORDS: Readonly<Record<string, string>> = {
  default: 'ask',
  acceptEdits: 'edits',
  plan: 'plan',
  dontAsk: "don't ask",
  bypassPermissions: 'all!',
};

/** Where we are, in a line; a script of one's own may say more below it, where there is room. */
export function statusLines(view: ViewState, drawing: Drawing): readonly LogicalLine[] {
  const [, ...more] = drawing.rows < ROOMY_ROWS ? [] : (view.facts.script ?? '').split('\n');
  return [statusLine(view, drawing), ...more.map((line) => terminalLine(toned('dim', sanitizeScreen(line))))];
}

/** One line about where we are: mode, model, context, cost; narrow screens keep the essential. */
function statusLine(view: ViewState, drawing: Drawing): LogicalLine {
  const { facts, hint } = view;
  const { nowMs, width, glyphs } = drawing;
  const percent = Math.round((100 * facts.contextTokens) / Math.max(1, facts.contextWindow));
  const context =
    percent >= FULL_PERCENT ? `${percent}% full, /compact` : formatUsage(facts.contextTokens, facts.contextWindow);
  const segments: readonly (string | undefined)[] =
    width < NARROW
      ? [`${percent}%`]
      : [
          facts.model,
          context,
          facts.isDemo ? 'demo' : formatMoney(facts.costUsd),
          facts.branch,
          facts.shellAt === undefined ? undefined : `in ${sanitizeScreen(facts.shellAt)}`,
          facts.background === 0 ? undefined : `${facts.background} background`,
        ];
  const said = facts.script === undefined ? segments : [sanitizeScreen(facts.script).split('\n', 1)[0]];
  const shown = [vimWord(view), ...said].filter((segment): segment is string => segment !== undefined);
  const shownHint = hint !== undefined && hint.untilMs > nowMs ? [toned('warn', `   ${hint.text}`)] : [];
  return terminalLine(
    modeSpan(facts.mode),
    toned('dim', `${glyphs.separator}${shown.join(glyphs.separator)}`),
    ...shownHint,
  );
}

/** Vim's mode, as long as keys are not text. */
function vimWord({ vim, activity }: ViewState): string | undefined {
  if (vim === undefined || vim.mode === 'insert') return undefined;
  const word = vim.mode === 'normal' ? 'NORMAL' : 'VISUAL';
  return activity.status === 'idle' || vim.mode !== 'normal' ? word : `${word}, esc stop`;
}

function modeSpan(mode: string): Span {
  const word = MODE_WORDS[mode] ?? mode;
  if (mode === 'bypassPermissions') return { text: word, style: { token: 'error', inverse: true } };
  return mode === 'default' ? toned('dim', word) : plain(word);
}
