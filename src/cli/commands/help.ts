import type { SubcommandInput } from '../../command/subcommands.ts';
import { UsageError } from '../../command/usage-error.ts';
import { findClosestWord } from '../../lib/text/closest-word.ts';
import { formatFlagsHelp, formatHelp } from '../args/help.ts';
import { loadHelpPages } from './help-pages.ts';

/** Runs `ouro help [topic]`: prints the short help, all flags, or a page of the documentation. */
export async function runHelpCommand({ args: [topic], io }: SubcommandInput): Promise<number> {
  const pages = await loadHelpPages();
  const topics = [...pages.keys(), 'flags'].toSorted();
  if (topic === undefined) {
    io.stdout.write(`${formatHelp()}Topics: ${topics.join(', ')}\n`);
    return 0;
  }
  const page = topic === 'flags' ? formatFlagsHelp() : pages.get(topic);
  if (page === undefined) {
    const suggestion = findClosestWord(topic, topics);
    const hint = suggestion === undefined ? `Topics: ${topics.join(', ')}.` : `Did you mean ${suggestion}?`;
    throw new UsageError(`Unknown help topic ${topic}. ${hint}`);
  }
  io.stdout.write(page);
  return 0;
}
