import { Box } from 'ink';
import type { QueuedMessage } from '../../../contracts/event.ts';
import { sanitize } from '../../../lib/text/sanitize.ts';
import { getQueuedText } from '../../app-state/message-text.ts';
import { PrintableText } from '../../text/Rows.tsx';
import { useScreenContext } from '../../text/render-context.ts';

const WIDE = 80;

/** Queued messages: when each will be sent, and after the last one the keys to change the queue. */
export function QueuedMessageList({ queue }: { readonly queue: readonly QueuedMessage[] }) {
  return queue.map((item, index) => (
    <Queued key={item.id} item={item} place={index === queue.length - 1 ? 'last' : 'earlier'} />
  ));
}

function Queued({ item, place }: { readonly item: QueuedMessage; readonly place: 'last' | 'earlier' }) {
  const { context, paint } = useScreenContext();
  const { glyphs, width } = context;
  const sendTime = item.lane === 'next' ? 'after this tool' : 'when the turn ends';
  const keys = place === 'last' && width >= WIDE ? `     ${glyphs.up} edits, ctrl+x ctrl+d removes` : '';
  return (
    <Box width={Math.max(1, width - 2)}>
      <Box flexShrink={0}>
        <PrintableText>{paint(`${glyphs.queue} `, { token: 'accent' })}</PrintableText>
      </Box>
      {/* The text is truncated before the time of sending. */}
      <PrintableText wrap="truncate">{paint(sanitize(getQueuedText(item), 'line'), undefined)}</PrintableText>
      <Box flexShrink={0}>
        <PrintableText wrap="truncate">{paint(`      ${sendTime}${keys}`, { token: 'dim' })}</PrintableText>
      </Box>
    </Box>
  );
}
