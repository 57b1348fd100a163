import type { SessionRecord } from '../../contracts/session.ts';
import { driveRun } from './drive-run.ts';
import { recordedRuns } from './recorded-runs.ts';
import { type Replay, replaySession } from './replay-session.ts';

/** A replay, and how much of it the loop itself went through once more. */
export type Rerun = Replay & {
  readonly runs: number;
  readonly driven: number;
  /** Why the others were only rebuilt. */
  readonly notDriven: readonly string[];
};

/** Every request rebuilt from what stood before it; then every run driven through the loop, which must ask the same. */
export async function rerunSession(records: readonly SessionRecord[]): Promise<Rerun> {
  const replay = replaySession(records);
  if (replay.difference !== undefined) return { ...replay, runs: 0, driven: 0, notDriven: [] };
  let driven = 0;
  const notDriven: string[] = [];
  for (const run of recordedRuns(records)) {
    const came = await driveRun(run);
    if (came.kind === 'same') driven += 1;
    else if (came.kind === 'not driven') notDriven.push(came.why);
    else return { ...replay, runs: driven + notDriven.length + 1, driven, notDriven, difference: came.difference };
  }
  return { ...replay, runs: driven + notDriven.length, driven, notDriven };
}
