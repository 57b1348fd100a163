import { Writable } from 'node:stream';
import { stripVTControlCharacters } from 'node:util';
import fc from 'fast-check';
import { Box, type DOMElement, render, renderToString } from 'ink';
import { createElement, type ReactElement } from 'react';
import { expect, test } from 'vitest';
import { markAsPrintable } from '../../../src/lib/printable.ts';
import { readLaidOutRows } from '../../../src/ui/terminal/ink-layout.ts';
import { PrintableText } from '../../../src/ui/text/Rows.tsx';
import { ScreenContext } from '../../../src/ui/text/render-context.ts';
import { INITIAL_HISTORY_RENDER_STATE } from '../../../src/ui/widgets/history/history-lines.ts';
import { layoutScreen } from '../../../src/ui/widgets/screen/layout-screen.ts';
import { Screen } from '../../../src/ui/widgets/screen/Screen.tsx';
import { runs } from '../../support/runs.ts';
import { begins, grows, queued } from '../widgets/screen/events.ts';
import { openStage } from '../widgets/screen/stage-screen.ts';

const COLUMNS = 30;

/** The rows of a tree as they are read from Ink's layout; undefined where Ink has to draw it. */
function read(element: ReactElement, columns = COLUMNS): readonly string[] | undefined {
  let top: DOMElement | undefined;
  const take = (box: DOMElement | null) => {
    for (let node = box ?? undefined; node !== undefined; node = node.parentNode) top = node;
  };
  const stdout = Object.assign(new Writable({ write: (_chunk, _encoding, done) => done() }), { columns, rows: 50 });
  const options = { debug: true, interactive: false, patchConsole: false, exitOnCtrlC: false };
  // Ink asks of a terminal what it writes to, how wide it is, and nothing else here.
  const instance = render(<Box ref={take}>{element}</Box>, Object.assign(options, { stdout }));
  const rows = top === undefined ? undefined : readLaidOutRows(top, new Map())?.rows.map(stripVTControlCharacters);
  instance.unmount();
  return rows;
}

function painted(words: string): ReactElement {
  return <PrintableText wrap="truncate">{markAsPrintable(words)}</PrintableText>;
}

const text = fc
  .array(fc.constantFrom('a', 'two words', '中文', '◐ runs', '', '\u001b[1;31mred\u001b[0m  ', 'x'.repeat(12)), {
    minLength: 1,
    maxLength: 3,
  })
  .map((lines) => painted(lines.map((line) => line || ' ').join('\n')));
const NO_SIDES = { top: '', topLeft: '', topRight: '', right: '', bottom: '', bottomLeft: '', bottomRight: '' };
/** What asks stands behind such a bar. */
const BAR = {
  ...{ borderTop: false, borderRight: false, borderBottom: false },
  borderStyle: { ...NO_SIDES, left: '\u001b[33m▌\u001b[0m' },
};
const { tree } = fc.letrec<{ tree: ReactElement }>((tie) => ({
  tree: fc.oneof(
    { maxDepth: 3, withCrossShrink: true },
    text,
    fc
      .record({
        children: fc.array(tie('tree'), { maxLength: 3 }),
        flexDirection: fc.constantFrom('row', 'column'),
        marginTop: fc.nat(2),
        paddingLeft: fc.nat(2),
        columnGap: fc.nat(3),
        ...{ bar: fc.boolean(), maxHeight: fc.option(fc.nat(3), { nil: undefined }) },
      })
      .map(({ children, bar, maxHeight, ...layout }) => {
        const cut = maxHeight === undefined ? {} : ({ maxHeight, overflowY: 'hidden' } as const);
        return createElement(Box, { ...layout, ...cut, ...(bar ? BAR : {}) }, ...children);
      }),
  ),
}));

test('the output of a layout is what Ink would draw', () => {
  let known = 0;
  fc.assert(
    fc.property(tree, (element) => {
      const rows = read(element);
      if (rows === undefined) return;
      known += 1;
      const drawn = renderToString(element, { columns: COLUMNS }).split('\n');
      expect(rows.join('\n').trimEnd()).toBe(drawn.map(stripVTControlCharacters).join('\n').trimEnd());
    }),
    runs(60),
  );
  expect(known).toBeGreaterThan(0);
});

test('frames, clipped sides and overflow are drawn by Ink', () => {
  const [words, short] = [painted('x'.repeat(40)), painted('x')];
  const framed = createElement(Box, { borderStyle: 'single' }, short);
  const cut = createElement(Box, { overflow: 'hidden' }, short);
  const coloured = createElement(Box, { ...BAR, borderColor: 'red' }, short);
  const all = [words, framed, cut, coloured];
  expect(all.map((element) => read(element))).toEqual(all.map(() => undefined));
  expect(read(short)).toEqual(['x']);
});

test('the screen of a growing answer is read: no cell of it is drawn', () => {
  for (const cols of [40, 80, 120]) {
    const stage = openStage({ cols, rows: 24 });
    stage.emit(
      begins(),
      grows('# Head\n\nSome words that go on and on\n\n- and `more`'),
      queued('q1', 'next', 'then this'),
    );
    stage.type('a draft');
    const context = stage.drawing();
    const plan = layoutScreen(stage.view(), context, INITIAL_HISTORY_RENDER_STATE);
    const screen = (
      <ScreenContext value={{ context, paint: markAsPrintable }}>
        <Screen view={stage.view()} layout={plan} />
      </ScreenContext>
    );
    expect(read(screen, cols)?.join('\n')).toContain('a draft');
    stage.close();
  }
});
