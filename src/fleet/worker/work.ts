import { randomUUID } from 'node:crypto';
import { mkdir, rm } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import type { Beat, Claim, Micros } from '../../contracts/fleet.ts';
import { patchOf } from '../git/work-patch.ts';
import type { RunEnd, RunStory, Throttle } from './child-lines.ts';
import { type ChildRun, runChild } from './child-run.ts';
import { managedSettings } from './policy.ts';
import type { PreparedWork } from './prepare.ts';
import { checkVariables, childVariables } from './surroundings.ts';
import type { TaskParts } from './task-parts.ts';
import { type Verdict, verdictOf } from './verdict.ts';
import { type Check, checkByCommand, checkOfJudge, goOnPrompt, JUDGEMENT_SCHEMA, judgePrompt } from './verify.ts';

/** What an attempt tells while it works. */
export type WorkEars = {
  /** Over when the queue knows it, or could not be reached. */
  readonly onBeat: (beat: Beat) => Promise<void>;
  readonly onThrottle: (throttle: Throttle) => void;
};

/** How the work went: with an answer that was accepted, or how it ended otherwise. */
export type WorkEnd = {
  readonly verdict: Verdict;
  readonly verified: 'yes' | 'not asked';
  readonly last: Beat;
  readonly turns: number;
  readonly denials: number;
};

type Work = { readonly claim: Claim; readonly prepared: PreparedWork; readonly parts: TaskParts };
/** What all runs of this attempt came to so far. */
type Sum = { readonly cost: Micros; readonly turns: number; readonly denials: number };

/** Runs the task, and goes on with it as long as its check does not pass and may be tried again. */
export async function doWork(work: Work, ears: WorkEars, signal: AbortSignal): Promise<WorkEnd> {
  const { claim, prepared } = work;
  const { verify } = claim.spec;
  let { session, prompt } = prepared;
  let sum: Sum = { cost: prepared.unbooked, turns: 0, denials: 0 };
  // Known before anything is spent: a worker that is killed with its first request is paid for, and gone on with.
  await ears.onBeat({ cost: sum.cost, session: session.id });
  for (let checks = 1; ; checks += 1) {
    const run = await runOnce(work, { session, prompt, sum }, ears, signal);
    sum = { cost: run.cost, turns: sum.turns + (run.end?.turns ?? 0), denials: sum.denials + (run.end?.denials ?? 0) };
    const last = { cost: sum.cost, session: run.session };
    const over = (verdict: Verdict, verified: WorkEnd['verified'] = 'not asked') => ({
      ...sum,
      verdict,
      verified,
      last,
    });
    if (run.verdict.kind !== 'answered' || signal.aborted) return over(run.verdict);
    if (verify === undefined || prepared.place === undefined) return over(run.verdict);
    void ears.onBeat({
      ...last,
      doing: verify.kind === 'command' ? `check: ${verify.run}` : 'check: a judge reads it',
    });
    const check = await checked(work, sum, ears, signal);
    sum = { ...sum, cost: sum.cost + check.cost };
    if (check.accepted) return { ...over(run.verdict, 'yes'), last: { ...last, cost: sum.cost } };
    if (checks >= verify.tries || signal.aborted) {
      const reason = `not verified after ${checks} of ${verify.tries} tries`;
      return over({ kind: 'over', ending: { kind: 'failed', reason, again: 'never' } });
    }
    session = { kind: 'resume', id: run.session };
    prompt = goOnPrompt(check);
  }
}

type Round = { readonly session: ChildRun['session']; readonly prompt: string; readonly sum: Sum };
type RunOutcome = {
  readonly verdict: Verdict;
  readonly cost: Micros;
  readonly session: string;
  readonly end: RunEnd | undefined;
};

async function runOnce(work: Work, round: Round, ears: WorkEars, signal: AbortSignal): Promise<RunOutcome> {
  const { claim, prepared, parts } = work;
  const { session, prompt, sum } = round;
  const beatOf = ({ cost, doing }: RunStory): Beat => ({
    cost: sum.cost + cost,
    session: session.id,
    ...(doing === undefined ? {} : { doing: parts.secrets.hide(doing) }),
  });
  const budget = claim.budget - sum.cost;
  const ended = await runChild(
    {
      program: parts.program,
      cwd: prepared.cwd,
      env: childVariables(parts.environment, claim.spec),
      prompt,
      spec: claim.spec,
      session,
      budget: Math.max(0, budget),
      policy: managedSettings(parts.policy, claim.spec),
      noteFile: `${prepared.folder}.child`,
    },
    { onStory: (story) => void ears.onBeat(beatOf(story)), onThrottle: ears.onThrottle },
    signal,
  );
  const verdict = verdictOf(ended, claim.budget + claim.booked);
  return { verdict, cost: sum.cost + ended.story.cost, session: session.id, end: ended.story.end };
}

async function checked(work: Work, sum: Sum, ears: WorkEars, signal: AbortSignal): Promise<Check> {
  const { claim, prepared, parts } = work;
  const { verify } = claim.spec;
  if (verify?.kind === 'question') return judged(work, verify.ask, sum, ears, signal);
  return checkByCommand(
    {
      line: verify?.run ?? 'true',
      cwd: prepared.cwd,
      env: checkVariables(parts.environment, claim.spec),
      timeoutMs: claim.spec.minutes * 60_000,
    },
    signal,
  );
}

/** Another session looks at the change; it has what is left of the budget. */
async function judged(work: Work, ask: string, sum: Sum, ears: WorkEars, signal: AbortSignal): Promise<Check> {
  const { claim, prepared, parts } = work;
  if (prepared.place === undefined) return { accepted: true, because: '', cost: 0 };
  const folder = join(dirname(prepared.folder), `${claim.key}.judge`);
  await mkdir(folder, { recursive: true, mode: 0o700 });
  try {
    const { patch } = await patchOf(parts.git, prepared.place);
    const { model } = claim.spec;
    const ended = await runChild(
      {
        program: parts.program,
        cwd: prepared.cwd,
        env: childVariables(parts.environment, { env: [] }),
        prompt: await judgePrompt(ask, join(folder, 'change.patch'), patch),
        spec: {
          mode: 'dontAsk',
          allowedTools: [],
          disallowedTools: [],
          schema: JUDGEMENT_SCHEMA,
          ...(model === undefined ? {} : { model }),
        },
        session: { kind: 'new', id: randomUUID() },
        budget: Math.max(0, claim.budget - sum.cost),
        policy: managedSettings(parts.policy, { mode: 'dontAsk' }),
        extraArgs: ['--add-dir', folder],
      },
      { onStory: () => undefined, onThrottle: ears.onThrottle },
      signal,
    );
    return checkOfJudge(ended.story.end?.structured, ended.story.cost);
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}
