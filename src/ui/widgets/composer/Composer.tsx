import type { StyledSpan } from '../../text/line.ts';
import { Rows } from '../../text/Rows.tsx';
import { useScreenContext } from '../../text/render-context.ts';
import type { ScreenRow } from '../../text/render-lines.ts';
import type { TextStyle, ThemeToken } from '../../theme/theme.ts';
import type { DraftKind } from './classify-draft.ts';

const BAND_STYLE: TextStyle = { background: 'band' };

/** Colors of the bar for drafts that are not messages, as in the status line. */
const BAR_TOKENS: Readonly<Partial<Record<DraftKind, ThemeToken>>> = { shell: 'accent', memory: 'code' };

/** The draft, with a bar at the left and a background band across the full width. */
export function Composer({ rows, kind }: { readonly rows: readonly ScreenRow[]; readonly kind: DraftKind }) {
  const { context } = useScreenContext();
  const bar: StyledSpan = { text: context.glyphs.bar, style: { token: BAR_TOKENS[kind] ?? 'brand', ...BAND_STYLE } };
  const banded = rows.map(
    (row): ScreenRow => [
      bar,
      { text: ' ', style: BAND_STYLE },
      ...row.map(({ text, style }) => ({ text, style: { ...style, ...BAND_STYLE } })),
    ],
  );
  return <Rows rows={banded} />;
}
