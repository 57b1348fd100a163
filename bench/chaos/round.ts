import { readFile, rm, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { setTimeout as wait } from 'node:timers/promises';
import type { SessionRecord } from '../../src/contracts/session.ts';
import { AFTER, requestFaults } from '../../test/e2e/crash-run.ts';
import { type ApiServer, startApiServer } from '../../test/support/api/server.ts';
import { expectNoneLeft } from '../../test/support/processes.ts';
import { runOuro } from '../../test/support/run-ouro.ts';
import { storedFiles } from '../../test/support/stored-sessions.ts';
import { createTempProject, type TempProject } from '../../test/support/temp-project.ts';
import { memoryMb } from '../programs.ts';
import { createDice, type Dice } from './dice.ts';
import { type Face, openHost, openScreen } from './faces.ts';
import { createScript } from './script.ts';

/** One session on a bad day, and what was wrong with it. */
export type Round = {
  readonly faults: readonly string[];
  /** What was done to it. */
  readonly story: readonly string[];
  readonly requests: number;
  readonly peakMb: number;
};

const FILES = { 'a.txt': 'alpha\n', 'b.txt': 'beta\n' };
const ENDS_WITHIN_MS = 10_000;
const RESUMES_WITHIN_MS = 30_000;
const MOST_MB = 600;

type Ending = 'SIGKILL' | 'SIGTERM' | 'SIGINT' | 'SIGHUP' | 'leaves';
type Damage = 'none' | 'a torn end' | 'a flipped bit' | 'a page of NULs';

/** The same seed does the same things; when exactly they hit is up to the machine. */
export async function playRound(seed: number): Promise<Round> {
  const dice = createDice(seed);
  await using project = await createTempProject(FILES);
  const script = createScript(dice);
  await using api = await startApiServer({ turns: script.turn });
  const prompts = Array.from({ length: 1 + dice.below(3) }, (_, at) => `prompt ${at} of ${seed}`);
  const isScreen = dice.percent(50);
  const ending = dice.pick<Ending>(['SIGKILL', 'SIGKILL', 'SIGTERM', 'SIGINT', 'SIGHUP', 'leaves']);
  const damage = dice.percent(25) ? dice.pick<Damage>(['a torn end', 'a flipped bit', 'a page of NULs']) : 'none';
  const deletes = damage === 'none' && dice.percent(15) ? dice.pick<'file' | 'folder'>(['file', 'folder']) : 'nothing';
  const face = isScreen ? await openScreen(project, api) : openHost(project, api);
  const faults: string[] = [];
  const isEnding = new AbortController();
  const played = talk(face, prompts, { dice, project, deletes }).catch((thrown) => {
    // Who is in the middle of a word when the window closes is not to blame.
    if (!isEnding.signal.aborted) faults.push(`Talking to it failed: ${String(thrown)}`);
  });
  await Promise.race([api.waitForRequest(1), face.ended, wait(RESUMES_WITHIN_MS)]);
  await wait(dice.below(2_500));
  const peakMb = await memoryMb(face.pid).then(
    ({ peak }) => peak,
    () => 0,
  );
  isEnding.abort();
  faults.push(...(await end(face, ending)));
  await played;
  const seen = [...api.requests()];
  script.calm();
  if (damage !== 'none') await hurt(project, damage, dice);
  faults.push(...(await resume(project, api, { prompts, isWhole: damage === 'none' })));
  faults.push(
    ...api.all().flatMap(({ violation }) => (violation === undefined ? [] : [`It cannot be sent: ${violation}`])),
  );
  faults.push(
    ...(await expectNoneLeft(project.marker).then(
      () => [],
      (left) => [String(left)],
    )),
  );
  if (peakMb > MOST_MB) faults.push(`It took ${Math.round(peakMb)} MB.`);
  await face.remove();
  // A damaged record cannot be played again byte for byte.
  if (damage !== 'none') await rm(join(project.ouroHome, 'projects'), { recursive: true, force: true });
  const story = [isScreen ? 'screen' : 'host', ...script.played(), ending, damage, `${deletes} deleted`];
  return { faults, story, requests: seen.length + 1, peakMb };
}

type Day = { readonly dice: Dice; readonly project: TempProject; readonly deletes: 'file' | 'folder' | 'nothing' };

async function talk(face: Face, prompts: readonly string[], { dice, project, deletes }: Day): Promise<void> {
  const isOver = face.ended.then(() => true);
  for (const words of prompts) {
    if (await Promise.race([Promise.race([face.say(words), isOver.then(() => undefined)]).then(() => false), isOver]))
      return;
    const over = await Promise.race([wait(200 + dice.below(500)).then(() => false), isOver]);
    if (over) return;
    if (dice.percent(40)) face.fidget(dice);
    const [file] = deletes === 'nothing' ? [] : await storedFiles(project);
    if (file !== undefined)
      await rm(deletes === 'file' ? file.path : dirname(file.path), { recursive: true, force: true });
  }
}

async function end(face: Face, how: Ending): Promise<readonly string[]> {
  if (how === 'leaves') face.leave();
  else face.kill(how);
  const limit = how === 'leaves' ? RESUMES_WITHIN_MS : ENDS_WITHIN_MS;
  const ended = await Promise.race([face.ended, wait(limit).then(() => undefined)]);
  if (ended === undefined) {
    face.kill('SIGKILL');
    await face.ended;
    return [`${how}: it had not ended after ${limit} ms.`];
  }
  return how === 'SIGKILL' || how === 'leaves' ? [] : face.traces();
}

/** Goes on where it ended, with a model that is well again. */
async function resume(
  project: TempProject,
  api: ApiServer,
  { prompts, isWhole }: { readonly prompts: readonly string[]; readonly isWhole: boolean },
): Promise<readonly string[]> {
  const [file] = await storedFiles(project);
  const isKept = file !== undefined && file.records.length > 0;
  const before = [...api.requests()];
  // Also where there is nothing to go on with: the next start is what ends what a killed one has left.
  const running = runOuro(project, isKept ? ['-p', '--continue', AFTER] : ['-p', AFTER], api.url);
  const ended = await Promise.race([running, wait(RESUMES_WITHIN_MS).then(() => undefined)]);
  if (ended === undefined) return [`The resume had not ended after ${RESUMES_WITHIN_MS} ms.`];
  if (ended.code !== 0) return [`The resume ended with ${ended.code}: ${ended.stderr}`];
  const request = api.requests()[before.length];
  if (request === undefined) return ['The resume sent nothing.'];
  return isWhole && isKept ? requestFaults(request, file.records, before, staying(prompts, file.records)) : [];
}

/** Who stops before there is an answer takes the words back: they are not sent again. */
function staying(prompts: readonly string[], records: readonly SessionRecord[]): readonly string[] {
  const dead = new Set(records.flatMap((record) => (record.type === 'tombstone' ? [record.messageId] : [])));
  const taken = records.flatMap((record) =>
    record.type === 'user' && dead.has(record.message.id) ? [JSON.stringify(record.message.blocks)] : [],
  );
  return prompts.filter((words) => !taken.some((text) => text.includes(words)));
}

async function hurt(project: TempProject, damage: Damage, dice: Dice): Promise<void> {
  const [file] = await storedFiles(project);
  if (file === undefined) return;
  const bytes = await readFile(file.path);
  const at = dice.below(Math.max(1, bytes.length));
  if (damage === 'a flipped bit') bytes[at] = (bytes[at] ?? 0) ^ (1 << dice.below(8));
  if (damage === 'a page of NULs') bytes.fill(0, at, Math.min(bytes.length, at + 4096));
  const torn = bytes.subarray(0, Math.max(1, bytes.length - dice.below(300)));
  await writeFile(file.path, damage === 'a torn end' ? torn : bytes);
}
