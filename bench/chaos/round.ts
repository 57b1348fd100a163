import { readFile, rm, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { setTimeout as wait } from 'node:timers/promises';
import type { SessionRecord } from '../../src/contracts/session.ts';
import { AFTER, requestFaults } from '../../test/e2e/crash-run.ts';
import { type ApiServer, startApiServer } from '../../test/support/api/server.ts';
import { canMountHung } from '../../test/support/hung-mount.ts';
import { expectNoProcessesLeft } from '../../test/support/processes.ts';
import { runOuro } from '../../test/support/run-ouro.ts';
import { storedFiles } from '../../test/support/stored-sessions.ts';
import { createTempProject, type TempProject } from '../../test/support/temp-project.ts';
import { memoryMb } from '../programs.ts';
import { createDice, type Dice } from './dice.ts';
import { type Frontend, openHost, openScreen, openUnreadScreen } from './frontends.ts';
import { createScript } from './script.ts';

/** The result of one chaos session. */
export type Round = {
  readonly faults: readonly string[];
  /** The actions and faults of the session. */
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

/** Plays one session. The same seed repeats the same actions; their exact timing depends on the machine. */
export async function playRound(seed: number): Promise<Round> {
  const dice = createDice(seed);
  await using project = await createTempProject(FILES);
  const script = createScript(dice);
  await using api = await startApiServer({ turns: script.turn });
  const allPrompts = Array.from({ length: 1 + dice.below(3) }, (_, at) => `prompt ${at} of ${seed}`);
  const kind = dice.pick<Kind>(['screen', 'screen', 'screen', 'host', 'host', 'unread screen', 'host, hung mount']);
  // Nobody can type on a terminal that is not read, so its prompt is an argument.
  const prompts = kind === 'unread screen' ? allPrompts.slice(0, 1) : allPrompts;
  const ending = dice.pick<Ending>(['SIGKILL', 'SIGKILL', 'SIGTERM', 'SIGINT', 'SIGHUP', 'leaves']);
  const damage = dice.percent(25) ? dice.pick<Damage>(['a torn end', 'a flipped bit', 'a page of NULs']) : 'none';
  const deletes = damage === 'none' && dice.percent(15) ? dice.pick<'file' | 'folder'>(['file', 'folder']) : 'nothing';
  const second = dice.percent(40)
    ? { signal: dice.pick<NodeJS.Signals>(['SIGTERM', 'SIGINT', 'SIGHUP']), afterMs: dice.pick([0, 20, 300]) }
    : undefined;
  const frontend = await openFrontend(kind, project, api, prompts[0] ?? '');
  const faults: string[] = [];
  const isEnding = new AbortController();
  const played = sendPrompts(frontend, prompts, { dice, project, deletes }).catch((thrown) => {
    // Typing may fail while the session is being ended.
    if (!isEnding.signal.aborted) faults.push(`Sending input failed: ${String(thrown)}`);
  });
  await Promise.race([api.waitForRequest(1), frontend.ended, wait(RESUMES_WITHIN_MS)]);
  await wait(dice.below(2_500));
  const peakMb = await memoryMb(frontend.pid).then(
    ({ peak }) => peak,
    () => 0,
  );
  isEnding.abort();
  faults.push(...(await end(frontend, ending, second)));
  await played;
  const seen = [...api.requests()];
  script.calm();
  if (damage !== 'none') await damageSession(project, damage, dice);
  faults.push(...(await resume(project, api, { prompts, isWhole: damage === 'none' })));
  faults.push(
    ...api.all().flatMap(({ violation }) => (violation === undefined ? [] : [`Invalid request: ${violation}`])),
  );
  faults.push(
    ...(await expectNoProcessesLeft(project.marker).then(
      () => [],
      (left) => [String(left)],
    )),
  );
  if (peakMb > MOST_MB) faults.push(`Peak memory: ${Math.round(peakMb)} MB.`);
  await frontend.remove();
  // A damaged record cannot be replayed byte for byte.
  if (damage !== 'none') await rm(join(project.ouroHome, 'projects'), { recursive: true, force: true });
  const again = second === undefined ? [] : [`${second.signal} ${second.afterMs} ms later`];
  const story = [kind, ...script.played(), ending, ...again, damage, `${deletes} deleted`];
  return { faults, story, requests: seen.length + 1, peakMb };
}

type Talk = { readonly dice: Dice; readonly project: TempProject; readonly deletes: 'file' | 'folder' | 'nothing' };

async function sendPrompts(
  frontend: Frontend,
  prompts: readonly string[],
  { dice, project, deletes }: Talk,
): Promise<void> {
  const isOver = frontend.ended.then(() => true);
  for (const prompt of prompts) {
    if (
      await Promise.race([
        Promise.race([frontend.sendPrompt(prompt), isOver.then(() => undefined)]).then(() => false),
        isOver,
      ])
    )
      return;
    const over = await Promise.race([wait(200 + dice.below(500)).then(() => false), isOver]);
    if (over) return;
    if (dice.percent(40)) frontend.disturb(dice);
    const [file] = deletes === 'nothing' ? [] : await storedFiles(project);
    if (file !== undefined)
      await rm(deletes === 'file' ? file.path : dirname(file.path), { recursive: true, force: true });
  }
}

type Kind = 'screen' | 'host' | 'unread screen' | 'host, hung mount';

async function openFrontend(kind: Kind, project: TempProject, api: ApiServer, prompt: string): Promise<Frontend> {
  switch (kind) {
    case 'screen':
      return openScreen(project, api);
    case 'unread screen':
      return openUnreadScreen(project, api, prompt);
    case 'host, hung mount':
      return openHost(project, api, canMountHung() ? 'hung' : 'none');
    default:
      return openHost(project, api, 'none');
  }
}

type SecondSignal = { readonly signal: NodeJS.Signals; readonly afterMs: number };

async function end(frontend: Frontend, how: Ending, second: SecondSignal | undefined): Promise<readonly string[]> {
  if (how === 'leaves') frontend.leave();
  else frontend.kill(how);
  if (second !== undefined && how !== 'leaves' && how !== 'SIGKILL') {
    if (second.afterMs > 0) await Promise.race([wait(second.afterMs), frontend.ended]);
    try {
      frontend.kill(second.signal);
    } catch {
      // The first one has ended it already.
    }
  }
  const limit = how === 'leaves' ? RESUMES_WITHIN_MS : ENDS_WITHIN_MS;
  const ended = await Promise.race([frontend.ended, wait(limit).then(() => undefined)]);
  if (ended === undefined) {
    frontend.kill('SIGKILL');
    await frontend.ended;
    return [`${how}: it had not ended after ${limit} ms.`];
  }
  return how === 'SIGKILL' || how === 'leaves' ? [] : frontend.listLeftModes();
}

/** Resumes the session with a healthy model and checks the guarantees. */
async function resume(
  project: TempProject,
  api: ApiServer,
  { prompts, isWhole }: { readonly prompts: readonly string[]; readonly isWhole: boolean },
): Promise<readonly string[]> {
  const [file] = await storedFiles(project);
  const isKept = file !== undefined && file.records.length > 0;
  const before = [...api.requests()];
  // Also without a stored session: the next start stops the processes that a killed run left.
  const running = runOuro(project, isKept ? ['-p', '--continue', AFTER] : ['-p', AFTER], api.url);
  const ended = await Promise.race([running, wait(RESUMES_WITHIN_MS).then(() => undefined)]);
  if (ended === undefined) return [`The resume had not ended after ${RESUMES_WITHIN_MS} ms.`];
  if (ended.code !== 0) return [`The resume ended with ${ended.code}: ${ended.stderr}`];
  const request = api.requests()[before.length];
  if (request === undefined) return ['The resume sent nothing.'];
  return isWhole && isKept ? requestFaults(request, file.records, before, listKeptPrompts(prompts, file.records)) : [];
}

/** Excludes prompts that were withdrawn before a reply: they are not sent again. */
function listKeptPrompts(prompts: readonly string[], records: readonly SessionRecord[]): readonly string[] {
  const dead = new Set(records.flatMap((record) => (record.type === 'tombstone' ? [record.messageId] : [])));
  const taken = records.flatMap((record) =>
    record.type === 'user' && dead.has(record.message.id) ? [JSON.stringify(record.message.blocks)] : [],
  );
  return prompts.filter((prompt) => !taken.some((text) => text.includes(prompt)));
}

async function damageSession(project: TempProject, damage: Damage, dice: Dice): Promise<void> {
  const [file] = await storedFiles(project);
  if (file === undefined) return;
  const bytes = await readFile(file.path);
  const at = dice.below(Math.max(1, bytes.length));
  if (damage === 'a flipped bit') bytes[at] = (bytes[at] ?? 0) ^ (1 << dice.below(8));
  if (damage === 'a page of NULs') bytes.fill(0, at, Math.min(bytes.length, at + 4096));
  const torn = bytes.subarray(0, Math.max(1, bytes.length - dice.below(300)));
  await writeFile(file.path, damage === 'a torn end' ? torn : bytes);
}
