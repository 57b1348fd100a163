import { Box } from 'ink';
import type { ViewState } from '../../app-state/view-state.ts';
import { Rows } from '../../text/Rows.tsx';
import { useScreenContext } from '../../text/render-context.ts';
import { Composer } from '../composer/Composer.tsx';
import { classifyComposerText } from '../composer/layout-composer.ts';
import { QueuedMessageList } from '../composer/QueuedMessageList.tsx';
import { Menu } from '../menu/Menu.tsx';
import { Panel } from '../panel/Panel.tsx';
import { Dialog } from '../permission-dialog/Dialog.tsx';
import { StatusLine } from '../status-line/StatusLine.tsx';
import { TaskList } from '../TaskList.tsx';
import { computeAgentColumns, type SubAgentColumnWidths } from '../tool-calls/live-call.ts';
import { FinishedLookupsLine, ToolCall } from '../tool-calls/ToolCall.tsx';
import type { OverlayLayout, ScreenLayout } from './layout-screen.ts';
import type { LiveBlock } from './live-blocks.ts';

type ScreenProps = { readonly view: ViewState; readonly layout: ScreenLayout };

/** The redrawn part of the terminal: live turn, dialog, queue, composer, overlay and status line. */
export function Screen({ view, layout }: ScreenProps) {
  const { liveBlocks, dialog, gaps, queue, composer, overlay, status } = layout;
  return (
    <Box flexDirection="column">
      <Live blocks={liveBlocks} view={view} />
      {dialog !== undefined && (
        <Box marginTop={gaps.dialog}>
          <Dialog layout={dialog} />
        </Box>
      )}
      <Box marginTop={gaps.composer} flexDirection="column">
        <QueuedMessageList queue={queue} />
        <Composer rows={composer} kind={classifyComposerText(view)} />
      </Box>
      <OverlayBelow below={overlay} />
      {status === 'shown' && <StatusLine view={view} />}
    </Box>
  );
}

/** The overlay below the composer. */
function OverlayBelow({ below }: { readonly below: OverlayLayout }) {
  switch (below.kind) {
    case 'menu':
      return <Menu layout={below.layout} />;
    case 'help':
      return <Rows rows={below.lines} />;
    case 'panel':
      return (
        <Box maxHeight={below.rows} overflowY="hidden">
          <Panel view={below.panel} rows={below.rows} />
        </Box>
      );
    default:
      return null;
  }
}

type LiveProps = { readonly blocks: readonly LiveBlock[]; readonly view: Pick<ViewState, 'todos' | 'todosShown'> };

/** The live part of the turn: open text, tool calls, thinking and tasks. */
function Live({ blocks, view }: LiveProps) {
  const { context } = useScreenContext();
  const calls = blocks.flatMap((block) => ('entry' in block ? [block.entry] : []));
  const columns = computeAgentColumns(calls, context);
  return blocks.map((block) => {
    // If rows are missing, the empty one is dropped first, except before a call.
    const gap = block.keepHead > 0 ? block.gap : Math.max(0, block.gap - (block.fullHeight - block.height));
    return (
      <Box key={block.key} marginTop={gap} flexDirection="column">
        <LivePart block={block} room={block.height - gap} view={view} columns={columns} />
      </Box>
    );
  });
}

type LivePartProps = Pick<LiveProps, 'view'> & {
  readonly block: LiveBlock;
  readonly room: number;
  readonly columns: SubAgentColumnWidths | undefined;
};

function LivePart({ block, room, view, columns }: LivePartProps) {
  switch (block.kind) {
    case 'text':
    case 'thinking':
      return <Rows rows={block.rows.slice(block.rows.length - room)} />;
    case 'todos':
      return <TaskList todos={view.todos} form={view.todosShown} room={room} />;
    default:
      return 'lookups' in block ? (
        <FinishedLookupsLine entries={block.lookups} />
      ) : (
        <ToolCall entry={block.entry} room={room} columns={columns} />
      );
  }
}
