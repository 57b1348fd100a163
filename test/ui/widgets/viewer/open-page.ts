import type { Message } from '../../../../src/contracts/message.ts';
import type { UiEffect } from '../../../../src/ui/input/input-result.ts';
import { openViewer, type ViewerRow, type ViewerState } from '../../../../src/ui/widgets/viewer/viewer-state.ts';
import { begins, grows, over } from '../screen/events.ts';
import { openStage, type StageScreen } from '../screen/stage-screen.ts';

/** A transcript that is being looked at. */
export type OpenedPage = {
  readonly screen: StageScreen;
  press(...keys: readonly string[]): void;
  type(text: string): void;
  answer(text: string): void;
  isOpen(): boolean;
  rows(): readonly ViewerRow[];
  top(): number;
  note(): string;
  /** The text that is in view. */
  seen(): string;
  effects(): readonly UiEffect[];
};

export function openPage({ entries, height }: { readonly entries: number; readonly height: number }): OpenedPage {
  const screen = openStage({ cols: 80, rows: height });
  const page = { kind: 'transcript', messages: Array.from({ length: entries }, (_, at) => turn(at)).flat() } as const;
  const rows = screen.viewer.layOut(page, { thinking: 'hidden', outputs: 'folded' });
  const opened = openViewer('Transcript', page, rows, height);
  screen.change((view) => ({ ...view, overlay: { kind: 'viewer', viewer: opened } }));
  const viewer = (): ViewerState => {
    const { overlay } = screen.view();
    if (overlay?.kind !== 'viewer') throw new Error('The page is closed.');
    return overlay.viewer;
  };
  return {
    screen,
    press: screen.press,
    type: screen.type,
    answer: (text) => screen.emit(begins(), grows(text), over()),
    isOpen: () => screen.view().overlay?.kind === 'viewer',
    rows: () => viewer().rows,
    top: () => viewer().top,
    note: () => viewer().note,
    seen: () =>
      viewer()
        .rows.slice(viewer().top, viewer().top + height - 1)
        .map(({ text }) => text)
        .join('\n'),
    effects: () => screen.effects,
  };
}

function turn(at: number): readonly Message[] {
  return [
    { role: 'user', id: `u${at}`, origin: 'prompt', blocks: [{ type: 'text', text: `prompt ${at}` }] },
    {
      role: 'assistant',
      id: `m${at}`,
      model: 'sonnet-5',
      blocks: [
        { type: 'thinking', thinking: 'I wonder.', signature: '' },
        { type: 'tool_use', id: `c${at}`, name: 'Bash', input: { command: 'ls' } },
      ],
    },
    {
      role: 'user',
      id: `r${at}`,
      origin: 'results',
      blocks: [{ type: 'tool_result', tool_use_id: `c${at}`, content: '1\n2\n3\n4\n5\n6\n7' }],
    },
  ];
}
