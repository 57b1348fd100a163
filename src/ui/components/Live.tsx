import { Box } from 'ink';
import { Rows } from '../text/Rows.tsx';
import type { ViewState } from '../view/view-state.ts';
import { Call } from './Call.tsx';
import { Looked } from './Looked.tsx';
import type { LiveBlock } from './live-blocks.ts';
import { Tasks } from './Tasks.tsx';
import { Thinking } from './Thinking.tsx';

type LiveProps = { readonly blocks: readonly LiveBlock[]; readonly view: Pick<ViewState, 'todos' | 'todosShown'> };

/** What still changes: the end of the answer, calls, what is thought, tasks. */
export function Live({ blocks, view }: LiveProps) {
  return blocks.map((block) => {
    // Where rows are missing, the empty one goes first; a call stays set apart.
    const gap = block.keepHead > 0 ? block.gap : Math.max(0, block.gap - (block.full - block.height));
    return (
      <Box key={block.key} marginTop={gap} flexDirection="column">
        <Part block={block} room={block.height - gap} view={view} />
      </Box>
    );
  });
}

function Part({ block, room, view }: { readonly block: LiveBlock; readonly room: number } & Pick<LiveProps, 'view'>) {
  switch (block.kind) {
    case 'text':
      return <Rows rows={block.rows.slice(block.rows.length - room)} />;
    case 'thinking':
      return <Thinking rows={block.rows} room={room} />;
    case 'todos':
      return <Tasks todos={view.todos} form={view.todosShown} room={room} />;
    default:
      return 'looked' in block ? <Looked entries={block.looked} /> : <Call entry={block.entry} room={room} />;
  }
}
