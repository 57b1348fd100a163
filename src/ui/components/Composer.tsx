import { Rows } from '../text/Rows.tsx';
import type { Row } from '../text/render-lines.ts';
import { useLook } from '../text/use-look.ts';

const BAND = { background: 'band' } as const;

/** The draft: a bar at the left, and a band behind each row that reaches to the edge. */
export function Composer({ rows }: { readonly rows: readonly Row[] }) {
  const { drawing } = useLook();
  const bar = { text: drawing.glyphs.bar, style: { token: 'brand', ...BAND } } as const;
  const banded = rows.map((row) => [
    bar,
    { text: ' ', style: BAND },
    ...row.map(({ text, style }) => ({ text, style: { ...style, ...BAND } })),
  ]);
  return <Rows rows={banded} />;
}
