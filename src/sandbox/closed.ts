import { mkdirSync } from 'node:fs';
import { ToolFailure } from '../contracts/tool.ts';
import { guardedPlaces } from './guarded.ts';
import { placeOf } from './host-places.ts';
import { credentialsOf } from './places.ts';
import type { SandboxPlan } from './plan.ts';

/** What no command is given, even where a person would: keys, what programs run from, and what the box itself is made of. */
export function closedPlaces(plan: SandboxPlan): readonly string[] {
  const { ouroHome, home, denyRead, follow } = plan;
  const guarded = guardedPlaces(plan).flatMap(({ path, mount }) => (mount === 'writable' ? [] : [path]));
  const hidden = [ouroHome, ...credentialsOf(home), ...denyRead].map(follow);
  return [...new Set([...OF_THE_BOX, ...hidden, ...guarded])];
}

/** Its own: those of the machine would show other processes, or lead out. */
const OF_THE_BOX = ['/proc', '/sys', '/dev', '/run', '/var/run'];

/** Makes the folders that are not there yet. What leads elsewhere since it was agreed to is not what was agreed to. */
export function openPlaces(places: readonly string[], plan: SandboxPlan): void {
  const closed = closedPlaces(plan);
  for (const place of places) {
    const isElsewhere = placeOf(place) !== place;
    if (isElsewhere || closed.some((each) => place === each || place.startsWith(`${each}/`)))
      throw new ToolFailure(
        `Nothing was run: ${place} was to be opened, and it is not what it was when that was agreed to. Look at it again.`,
      );
    if (plan.kindOf(place) === 'missing') mkdirSync(place, { recursive: true });
  }
}
