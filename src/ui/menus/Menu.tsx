import { Box } from 'ink';
import { printed } from '../../lib/printable.ts';
import { printableName } from '../../lib/text/sanitize.ts';
import { Painted } from '../text/Painted.tsx';
import { Rows } from '../text/Rows.tsx';
import { useLook } from '../text/use-look.ts';
import type { Choice } from '../view/overlay.ts';
import { hintOf, type MenuPlan } from './plan-menu.ts';

/** A list to choose from: what is searched for, the choices, and the keys. */
export function Menu({ plan }: { readonly plan: MenuPlan }) {
  const { head, choices, selected, query, columns, hints, foot } = plan;
  return (
    <>
      {head === undefined ? null : <Rows rows={[head.spans]} />}
      {choices.map((choice) => (
        <Option
          key={choice.id}
          choice={choice}
          query={choice === selected ? undefined : query}
          columns={columns}
          hint={hints === 'shown' ? hintOf(choice) : ''}
        />
      ))}
      <Rows rows={foot.map(({ spans }) => spans)} />
    </>
  );
}

type OptionProps = {
  readonly choice: Choice;
  /** What to mark in its name; undefined where the cursor is. */
  readonly query: string | undefined;
  readonly columns: number;
  readonly hint: string;
};

/** A choice: the cursor, its name, and more about it as far as there is room. */
function Option({ choice, query, columns, hint }: OptionProps) {
  const { drawing, paint } = useLook();
  const isSelected = query === undefined;
  const detail = printableName(choice.detail);
  return (
    <Box width={Math.max(1, drawing.width - 2)}>
      <Box width={columns + 2} flexShrink={0}>
        <Painted wrap="truncate">
          {isSelected ? paint(`${drawing.glyphs.cursor} `, { token: 'brand', bold: true }) : printed`  `}
          <Name label={printableName(choice.label)} query={query} />
          {paint(hint, { token: 'dim' })}
        </Painted>
      </Box>
      {detail === '' ? null : (
        <Box marginLeft={2}>
          <Painted wrap="truncate">{paint(detail, { token: 'dim' })}</Painted>
        </Box>
      )}
    </Box>
  );
}

/** A name with what was typed bold in it; the one under the cursor stands out as a whole. */
function Name({ label, query }: { readonly label: string; readonly query: string | undefined }) {
  const { paint } = useLook();
  if (query === undefined) return <Painted>{paint(label, { token: 'brand', bold: true })}</Painted>;
  const at = query === '' ? -1 : label.toLowerCase().indexOf(query.toLowerCase());
  const end = at + query.length;
  if (at === -1) return <Painted>{paint(label, undefined)}</Painted>;
  return (
    <Painted>
      {paint(label.slice(0, at), undefined)}
      {paint(label.slice(at, end), { bold: true })}
      {paint(label.slice(end), undefined)}
    </Painted>
  );
}
