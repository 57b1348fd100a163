import { sanitize } from '../../../lib/text/sanitize.ts';
import { getTextWidth } from '../../../lib/text/text-width.ts';
import { createStyledLine, plain, truncateLine } from '../../text/line.ts';
import { Rows } from '../../text/Rows.tsx';
import { type RenderContext, useScreenContext } from '../../text/render-context.ts';
import type { ScreenRow } from '../../text/render-lines.ts';

import type { ThemeToken } from '../../theme/theme.ts';
import { classifyComposerText } from '../composer/layout-composer.ts';
import {
  createStatusSegments,
  getStatusScriptLines,
  parseStatusScriptLine,
  STATUS_SEGMENT_GAP,
  type StatusView,
} from './status-segments.ts';

/** Free columns before the chip and after the last segment. */
const EDGE = { left: 1, right: 2 } as const;

/** The status line: permission mode and segments. Further lines of a status line script follow below. */
export function StatusLine({ view }: { readonly view: StatusView }) {
  const { context } = useScreenContext();
  const chip = getChip(view);
  const room = context.width - EDGE.left - EDGE.right - getTextWidth(chip.word) - 2;
  const segments = createStatusSegments(view, context, room);
  const script = getStatusScriptLines(view, context).map((line) =>
    createStyledLine(plain('  '), ...parseStatusScriptLine(line)),
  );
  const row: ScreenRow = [
    plain(' '.repeat(EDGE.left)),
    { text: ` ${chip.word} `, style: { token: chip.token, bold: true, inverse: true } },
    ...segments.flatMap(({ spans }, index) => [
      plain(' '.repeat(index === 0 ? STATUS_SEGMENT_GAP.first : STATUS_SEGMENT_GAP.other)),
      ...spans,
    ]),
  ];
  return <Rows rows={[row, ...script.map((line) => truncateLine(line, context.width).spans)]} />;
}

/** Returns the height of the status line in rows. */
export function getStatusLineHeight(view: StatusView, context: RenderContext): number {
  return 1 + getStatusScriptLines(view, context).length;
}

type Chip = { readonly word: string; readonly token: ThemeToken };

/** Labels and colors of the permission modes. A mode without an entry is shown by its own name. */
const CHIPS: Readonly<Record<string, Chip>> = {
  default: { word: 'ask', token: 'accent' },
  acceptEdits: { word: 'accept edits', token: 'warn' },
  plan: { word: 'plan', token: 'code' },
  auto: { word: 'auto', token: 'warn' },
  dontAsk: { word: "don't ask", token: 'accent' },
  bypassPermissions: { word: 'bypass', token: 'error' },
};

/** Chips for drafts that are not messages: a shell line, and a note for the memory. */
const DRAFT_CHIPS = {
  shell: { word: 'shell', token: 'accent' },
  memory: { word: 'note', token: 'code' },
} as const satisfies Readonly<Record<string, Chip>>;

/** Returns the chip: what enter does with the draft if it is not a message, else the permission mode. */
function getChip(view: StatusView): Chip {
  const kind = classifyComposerText(view);
  if (kind === 'shell' || kind === 'memory') return DRAFT_CHIPS[kind];
  const { mode } = view.facts;
  return CHIPS[mode] ?? { word: sanitize(mode, 'line'), token: 'accent' };
}
