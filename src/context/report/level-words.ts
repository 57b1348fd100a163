import { formatCount, formatTokens } from '../../lib/text/format.ts';
import type { LevelRun } from '../levels/pipeline.ts';

/** What a level did, for `/timeline`, and as the cause of a cache that had to be written anew. */
export function levelWords({ level, blocks, freedTokens }: LevelRun): string {
  const freed = `${formatTokens(freedTokens)} tokens freed`;
  switch (level) {
    case 'budget':
      return 'a result over its limit became a preview';
    case 'snip':
      return `${formatCount(blocks, 'old result')} left out, ${freed}`;
    case 'microcompact':
      return `${formatCount(blocks, 'repeated result')} left out, ${freed}`;
    case 'collapse':
      return `${formatCount(blocks, 'run')} of searches folded, ${freed}`;
    case 'compact':
      return `the conversation was compacted, ${freed}`;
  }
}
