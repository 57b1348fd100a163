import type { Ask } from './ask.ts';
import type { DialogOption } from './dialog-options.ts';

/** The asks of a list that are still open. What came after it was opened is not on it, so nothing unseen is answered. */
export function listedAsks(asks: readonly Ask[], ids: readonly string[]): readonly Ask[] {
  return asks.filter(({ id }) => ids.includes(id));
}

/** Reading and editing can be allowed together; what runs, fetches or is dangerous is looked at on its own. */
export function isAnsweredTogether(ask: Ask): boolean {
  if (ask.kind !== 'permission') return false;
  const { facts, danger, concealed } = ask.request;
  return (facts.kind === 'read' || facts.kind === 'edit') && danger === 'none' && concealed === 'none';
}

/** The ways to answer a list. */
export function listOptions(listed: readonly Ask[]): readonly DialogOption[] {
  const together = listed.filter(isAnsweredTogether).map(({ id }) => id);
  const all: DialogOption = {
    key: 'A',
    label: `Yes, once, to the ${together.length} that read or edit`,
    act: { type: 'answer_several', ids: together },
    place: 'line',
  };
  const back: DialogOption = { key: 'b', label: 'Back to the first', act: { type: 'list' }, place: 'line' };
  return together.length === 0 ? [back] : [all, back];
}
