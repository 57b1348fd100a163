import { Box } from 'ink';
import { printable } from '../../../lib/printable.ts';
import { escapeDisplayName } from '../../../lib/text/sanitize.ts';
import type { OverlayChoice } from '../../app-state/overlay.ts';
import { FRAME_COLUMNS, Frame } from '../../text/Frame.tsx';
import { colored } from '../../text/line.ts';
import { PrintableText, Rows } from '../../text/Rows.tsx';
import { useScreenContext } from '../../text/render-context.ts';
import { formatArgumentHint, type MenuLayout } from './layout-menu.ts';

/** A menu: head with the query, choices, and keys. */
export function Menu({ layout }: { readonly layout: MenuLayout }) {
  const { head, rows, selected, query, labelWidth, hints, footer } = layout;
  const content = (
    <>
      {head === undefined ? null : <Rows rows={[head.spans]} />}
      {rows.map((row) =>
        row.kind === 'heading' ? (
          <Rows key={row.text} rows={[[colored('dim', `  ${row.text}`)]]} />
        ) : (
          <MenuChoice
            key={row.choice.id}
            choice={row.choice}
            query={row.choice === selected ? undefined : query}
            columns={labelWidth}
            hint={hints === 'shown' ? formatArgumentHint(row.choice) : ''}
            margin={head === undefined ? 0 : FRAME_COLUMNS}
          />
        ),
      )}
      <Rows rows={footer.map(({ spans }) => spans)} />
    </>
  );
  return head === undefined ? content : <Frame token="brand">{content}</Frame>;
}

type MenuChoiceProps = {
  readonly choice: OverlayChoice;
  /** Query to highlight in the label; undefined for the selected choice. */
  readonly query: string | undefined;
  readonly columns: number;
  readonly hint: string;
  /** Columns of the frame. */
  readonly margin: number;
};

/** One choice: cursor, label, and as much of the description as fits. */
function MenuChoice({ choice, query, columns, hint, margin }: MenuChoiceProps) {
  const { context, paint } = useScreenContext();
  const isSelected = query === undefined;
  const detail = escapeDisplayName(choice.detail);
  return (
    <Box width={Math.max(1, context.width - 2 - margin)}>
      <Box width={columns + 2} flexShrink={0}>
        <PrintableText wrap="truncate">
          {isSelected ? paint(`${context.glyphs.cursor} `, { token: 'brand', bold: true }) : printable`  `}
          <ChoiceLabel label={escapeDisplayName(choice.label)} query={query} />
          {paint(hint, { token: 'dim' })}
        </PrintableText>
      </Box>
      {detail === '' ? null : (
        <Box marginLeft={2}>
          <PrintableText wrap="truncate">{paint(detail, { token: 'dim' })}</PrintableText>
        </Box>
      )}
    </Box>
  );
}

/** The label of a choice with the query in bold; the label of the selected choice is highlighted completely. */
function ChoiceLabel({ label, query }: { readonly label: string; readonly query: string | undefined }) {
  const { paint } = useScreenContext();
  if (query === undefined) return <PrintableText>{paint(label, { token: 'brand', bold: true })}</PrintableText>;
  const start = query === '' ? -1 : label.toLowerCase().indexOf(query.toLowerCase());
  const end = start + query.length;
  if (start === -1) return <PrintableText>{paint(label, undefined)}</PrintableText>;
  return (
    <PrintableText>
      {paint(label.slice(0, start), undefined)}
      {paint(label.slice(start, end), { bold: true })}
      {paint(label.slice(end), undefined)}
    </PrintableText>
  );
}
