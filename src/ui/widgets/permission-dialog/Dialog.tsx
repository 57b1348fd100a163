import { Box } from 'ink';
import { Frame } from '../../text/Frame.tsx';
import { Rows } from '../../text/Rows.tsx';
import type { ScreenRow } from '../../text/render-lines.ts';
import type { DialogLayout } from './fit-dialog.ts';

/** The dialog behind a bar: title, body, options one per row, and further keys. */
export function Dialog({ layout }: { readonly layout: DialogLayout }) {
  const { title, body, options, keys, gaps, inSight } = layout;
  const isFolded = inSight === 'part' && body.length === 0 && options.length === 0;
  return (
    <Frame token={isFolded ? 'dim' : 'warn'}>
      <Rows rows={[title]} />
      <DialogPart rows={body} gaps={gaps} indent={2} />
      {/* The cursor takes two columns, so that the digits are aligned with the body. */}
      <DialogPart rows={options} gaps={gaps} indent={0} />
      <DialogPart rows={keys} gaps={gaps} indent={isFolded ? 0 : 2} />
    </Frame>
  );
}

type DialogPartProps = Pick<DialogLayout, 'gaps'> & { readonly rows: readonly ScreenRow[]; readonly indent: number };

function DialogPart({ rows, gaps, indent }: DialogPartProps) {
  if (rows.length === 0) return null;
  return (
    <Box marginTop={gaps === 'shown' ? 1 : 0} paddingLeft={indent}>
      <Rows rows={rows} />
    </Box>
  );
}

/** Returns the height of the dialog in rows. */
export function getDialogHeight({ body, options, keys, gaps }: DialogLayout): number {
  const parts = [body, options, keys].filter((part) => part.length > 0);
  const emptyRows = gaps === 'shown' ? parts.length : 0;
  return 1 + emptyRows + body.length + options.length + keys.length;
}
