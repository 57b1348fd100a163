import { Box } from 'ink';
import type { QueuedMessage } from '../../contracts/event.ts';
import { sanitize } from '../../lib/text/sanitize.ts';
import { Painted } from '../text/Painted.tsx';
import { useLook } from '../text/use-look.ts';
import { queuedWords } from '../view/typed-words.ts';

const WIDE = 80;

/** What waits to be heard: where each will go in, and on the last how to get it back. */
export function Queue({ queue }: { readonly queue: readonly QueuedMessage[] }) {
  return queue.map((item, at) => (
    <Queued key={item.id} item={item} place={at === queue.length - 1 ? 'last' : 'earlier'} />
  ));
}

function Queued({ item, place }: { readonly item: QueuedMessage; readonly place: 'last' | 'earlier' }) {
  const { drawing, paint } = useLook();
  const { glyphs, width } = drawing;
  const when = item.lane === 'next' ? 'after this tool' : 'when it has finished';
  const keys = place === 'last' && width >= WIDE ? `     ${glyphs.up} edits, ctrl+x ctrl+d drops` : '';
  return (
    <Box width={Math.max(1, width - 2)}>
      <Box flexShrink={0}>
        <Painted>{paint(`${glyphs.queue} `, { token: 'accent' })}</Painted>
      </Box>
      {/* The words give way to where they will go. */}
      <Painted wrap="truncate">{paint(sanitize(queuedWords(item), 'line'), undefined)}</Painted>
      <Box flexShrink={0}>
        <Painted wrap="truncate">{paint(`      ${when}${keys}`, { token: 'dim' })}</Painted>
      </Box>
    </Box>
  );
}
