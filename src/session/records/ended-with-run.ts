import type { SessionRecord } from '../../contracts/session.ts';

/** The record of what was at work in the background when a run ended, and ended with it. */
export const ENDED_WITH_RUN = 'ended_with_run';

/** What ended with the last run, unless something was said since. */
export function endedWithRun(records: readonly SessionRecord[]): readonly string[] {
  const from = records.findLastIndex(({ type }) => type === 'user');
  return records.slice(from + 1).flatMap((record) => {
    if (record.type !== 'system' || record.subtype !== ENDED_WITH_RUN) return [];
    const { titles } = record.data;
    return Array.isArray(titles) ? titles.map(String) : [];
  });
}
