import { rm } from 'node:fs/promises';
import type { Beat, Claim, Ending, FileKind, TaskResult } from '../../contracts/fleet.ts';
import { messageOf } from '../../lib/errors.ts';
import { errnoOf } from '../../lib/files/errno.ts';
import { oneLine } from '../../lib/text/one-line.ts';
import { withoutSecrets } from '../../lib/text/secrets.ts';
import { redactJson } from '../../session/records/redact.ts';
import { MAX_PATCH_BYTES, patchOf, type WorkPatch } from '../git/work-patch.ts';
import { keepUnfinished } from './keep-unfinished.ts';
import { refusalOf } from './policy.ts';
import { type PreparedWork, prepareWork, workFolder } from './prepare.ts';
import { readSession } from './session-file.ts';
import { signatureProblem } from './signatures.ts';
import type { TaskParts } from './task-parts.ts';
import type { Verdict } from './verdict.ts';
import { doWork, type WorkEars, type WorkEnd } from './work.ts';

export type TaskFiles = Readonly<Partial<Record<FileKind, Uint8Array>>>;

/** How an attempt ended, and what its worker has to know besides. */
export type TaskEnd = {
  readonly ending: Ending;
  readonly last: Beat;
  readonly files: TaskFiles;
  /** The lane rests, or this machine cannot work. */
  readonly trouble?: Extract<Verdict, { kind: 'lane rests' | 'machine' }>;
};

/** Runs one attempt of a task from the empty folder to its patch. It never throws for what a task can bring about. */
export async function runTask(claim: Claim, parts: TaskParts, ears: WorkEars, signal: AbortSignal): Promise<TaskEnd> {
  const refusal = await whyNot(claim, parts);
  if (refusal !== undefined) return failure(refusal, 'never');
  if (claim.budget <= 0) return failure('what it may cost is spent', 'never');
  let prepared: PreparedWork;
  try {
    prepared = await prepareWork(claim, parts);
  } catch (thrown) {
    return unprepared(thrown);
  }
  const keeping = keepUnfinished(prepared, parts);
  try {
    const end = await doWork({ claim, prepared, parts }, ears, signal);
    await keeping.stop();
    const settledEnd = await settled({ claim, prepared, parts, end }, signal);
    return { ...settledEnd, ending: parts.secrets.hideIn(settledEnd.ending) };
  } catch (thrown) {
    return unprepared(thrown);
  } finally {
    await keeping.stop();
  }
}

/** Takes the folder of a task away: what there was to keep of it is in the store. */
export async function clearWork(claim: Claim, { workRoot, mirrors }: TaskParts): Promise<void> {
  const folder = workFolder(workRoot, claim.batch, claim.key);
  await rm(`${folder}.child`, { force: true });
  if (claim.spec.place === undefined) await rm(folder, { recursive: true, force: true });
  else await mirrors.remove(claim.spec.place, folder);
}

async function whyNot(claim: Claim, { policy }: TaskParts): Promise<string | undefined> {
  const refusal = refusalOf(policy, claim);
  if (refusal !== undefined || policy.allowedSigners === undefined) return refusal;
  return signatureProblem(claim.batch, claim, policy.allowedSigners);
}

const NOTHING: Beat = { cost: 0 };

function failure(reason: string, again: 'if attempts are left' | 'never'): TaskEnd {
  return { ending: { kind: 'failed', reason, again }, last: NOTHING, files: {} };
}

/** No room, no program, no right to write: that is the machine's. A repository or commit that is gone is the task's. */
const OF_THE_MACHINE = ['ENOSPC', 'EDQUOT', 'EROFS', 'EACCES', 'EMFILE', 'ENFILE', 'EIO'];
const MACHINE_WORDS =
  /No space left on device|Disk quota exceeded|spawn git ENOENT|Executable not found|command not found: git|ouro could not be started/i;

function unprepared(thrown: unknown): TaskEnd {
  const words = oneLine(messageOf(thrown));
  if (OF_THE_MACHINE.includes(errnoOf(thrown) ?? '') || MACHINE_WORDS.test(messageOf(thrown)))
    return { ...failure(words, 'never'), ending: back(words), trouble: { kind: 'machine', words } };
  return failure(words, 'never');
}

const back = (reason: string): Ending => ({ kind: 'back', reason, afterMs: 1_000 });

type Ended = {
  readonly claim: Claim;
  readonly prepared: PreparedWork;
  readonly parts: TaskParts;
  readonly end: WorkEnd;
};

async function settled(ended: Ended, signal: AbortSignal): Promise<TaskEnd> {
  const { prepared, parts, end } = ended;
  const work = prepared.place === undefined ? undefined : await patchOf(parts.git, prepared.place);
  const transcript = await transcriptOf(ended);
  const problem = work === undefined ? undefined : problemOf(work, parts);
  const kept = (kind: 'patch' | 'unfinished'): TaskFiles => ({
    ...(work === undefined || problem !== undefined ? {} : { [kind]: work.patch }),
    ...(transcript === undefined ? {} : { transcript }),
  });
  const { verdict, last } = end;
  if (signal.aborted) return { ending: back(String(signal.reason)), last, files: kept('unfinished') };
  if (verdict.kind === 'over') return { ending: verdict.ending, last, files: kept('unfinished') };
  if (verdict.kind !== 'answered')
    return { ending: back(verdict.words), last, files: kept('unfinished'), trouble: verdict };
  if (problem !== undefined) return { ...failure(problem, 'never'), last, files: kept('patch') };
  return { ending: { kind: 'done', result: resultOf(ended, work) }, last, files: kept('patch') };
}

/** Why a patch cannot be handed in. */
function problemOf({ patch }: WorkPatch, { secrets }: TaskParts): string | undefined {
  if (patch.length > MAX_PATCH_BYTES) return 'its patch has more than 16 MB';
  return secrets.isIn(patch) ? 'its patch holds a key or a token of the machine it ran on' : undefined;
}

const NOBODY = { home: '', user: '' };

function resultOf({ prepared, parts, end }: Ended, work: WorkPatch | undefined): TaskResult {
  const { verdict } = end;
  const answered = verdict.kind === 'answered' ? verdict.end : undefined;
  const structured = answered?.structured;
  return {
    // Results are shown to whoever may look at the queue.
    answer: withoutSecrets(answered?.words ?? ''),
    ...(structured === undefined ? {} : { structured: redactJson(structured, NOBODY) }),
    verified: end.verified,
    turns: end.turns,
    machine: parts.machine,
    session: end.last.session ?? '',
    denials: end.denials,
    stat: work?.stat ?? { files: 0, added: 0, removed: 0 },
    notes: prepared.notes,
  };
}

const transcriptOf = ({ prepared, parts, end }: Ended): Promise<Uint8Array | undefined> =>
  readSession(prepared, parts, end.last.session ?? prepared.session.id);
