import { nearest } from '../../lib/text/nearest.ts';
import { allFlagsText, helpText } from '../args/help.ts';
import type { CommandRequest } from '../args/subcommands.ts';
import { UsageError } from '../args/usage-error.ts';
import { helpPages } from './help-pages.ts';

/** `ouro help [topic]`: the short help, every flag, or a page of the documentation. */
export async function run({ words: [topic], io }: CommandRequest): Promise<number> {
  const pages = await helpPages();
  const topics = [...pages.keys()];
  if (topic === undefined) {
    io.stdout.write(`${helpText()}Topics: ${topics.join(', ')}\n`);
    return 0;
  }
  const page = topic === 'flags' ? allFlagsText() : pages.get(topic);
  if (page === undefined) {
    const meant = nearest(topic, topics);
    const hint = meant === undefined ? `Topics: ${topics.join(', ')}.` : `Did you mean ${meant}?`;
    throw new UsageError(`There is no help topic ${topic}. ${hint}`);
  }
  io.stdout.write(page);
  return 0;
}
