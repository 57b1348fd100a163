import { Box } from 'ink';
import { type AgentColumns, agentColumns } from '../history/live-tool-lines.ts';
import { Rows } from '../text/Rows.tsx';
import { useLook } from '../text/use-look.ts';
import type { ViewState } from '../view/view-state.ts';
import { Call } from './Call.tsx';
import { Looked } from './Looked.tsx';
import type { LiveBlock } from './live-blocks.ts';
import { Tasks } from './Tasks.tsx';
import { Thinking } from './Thinking.tsx';

type LiveProps = { readonly blocks: readonly LiveBlock[]; readonly view: Pick<ViewState, 'todos' | 'todosShown'> };

/** What still changes: the end of the answer, calls, what is thought, tasks. */
export function Live({ blocks, view }: LiveProps) {
  const { drawing } = useLook();
  const calls = blocks.flatMap((block) => ('entry' in block ? [block.entry] : []));
  const columns = agentColumns(calls, drawing);
  return blocks.map((block) => {
    // Where rows are missing, the empty one goes first; a call stays set apart.
    const gap = block.keepHead > 0 ? block.gap : Math.max(0, block.gap - (block.full - block.height));
    return (
      <Box key={block.key} marginTop={gap} flexDirection="column">
        <Part block={block} room={block.height - gap} view={view} columns={columns} />
      </Box>
    );
  });
}

type PartProps = Pick<LiveProps, 'view'> & {
  readonly block: LiveBlock;
  readonly room: number;
  readonly columns: AgentColumns | undefined;
};

function Part({ block, room, view, columns }: PartProps) {
  switch (block.kind) {
    case 'text':
      return <Rows rows={block.rows.slice(block.rows.length - room)} />;
    case 'thinking':
      return <Thinking rows={block.rows} room={room} />;
    case 'todos':
      return <Tasks todos={view.todos} form={view.todosShown} room={room} />;
    default:
      return 'looked' in block ? (
        <Looked entries={block.looked} />
      ) : (
        <Call entry={block.entry} room={room} columns={columns} />
      );
  }
}
