import { afterAll, afterEach, beforeEach } from 'vitest';
import type { ApiServer } from '../../../../test/support/api/server.ts';
import { type HereEnd, runHere } from '../../../../test/support/run-here.ts';
import type { TempProject } from '../../../../test/support/temp-project.ts';
import { type StoreKind, testQueue } from './fleet.ts';

/** The fixture of batch tests: a queue for each, and the project and model of the test; disposed with it. */
export type FleetBench = {
  project: TempProject;
  server: ApiServer | undefined;
  /** The flag or variable that selects the queue. */
  readonly env: Readonly<Record<string, string>>;
  readonly queue: ReturnType<typeof testQueue>;
  /** `ouro batch` in the project. */
  readonly run: (...args: readonly string[]) => Promise<HereEnd>;
};

export function fleetBench(kind: StoreKind): FleetBench {
  const queue = testQueue(kind);
  let made: TempProject | undefined;
  let env: Readonly<Record<string, string>> = {};
  const bench: FleetBench = {
    get project() {
      if (made === undefined) throw new Error('This test has not made its project yet.');
      return made;
    },
    set project(project) {
      made = project;
    },
    server: undefined,
    get env() {
      return env;
    },
    queue,
    run: (...args) => runHere(bench.project, ['batch', ...args], bench.server?.url, { env }),
  };
  beforeEach(async () => {
    env = await queue.begin();
  });
  afterEach(async () => {
    await bench.server?.close();
    bench.server = undefined;
    await made?.remove();
    made = undefined;
  });
  afterAll(() => queue.close());
  return bench;
}
