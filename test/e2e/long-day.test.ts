import { spawnSync } from 'node:child_process';
import { readdir, readFile, rename, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { cpuSeconds, memoryMb } from '../../bench/programs.ts';
import type { SeenRequest } from '../support/api/dialect.ts';
import { reply, says, text, toolUse } from '../support/api/reply.ts';
import { startApiServer } from '../support/api/server.ts';
import { startHostProcess } from '../support/json-host.ts';
import { expectNoProcessesLeft } from '../support/processes.ts';
import { runOuro } from '../support/run-ouro.ts';
import { isNightRun, isWholeRun } from '../support/runs.ts';
import { storedFile } from '../support/stored-sessions.ts';
import { createTempProject, type TempProject } from '../support/temp-project.ts';

const PROMPTS = isNightRun ? 2_000 : 60;
const TENTH = PROMPTS / 10;
/** Prompts in an hour of the moved clock. */
const PER_HOUR = isNightRun ? 20 : 2;

/** The library that moves the clock, as the program names it to the system; empty where it is not installed. */
const CLOCK = spawnSync('faketime', ['-f', '+0', 'printenv', 'LD_PRELOAD'], { encoding: 'utf8' }).stdout?.trim() ?? '';

/** Two or three calls, 2.5 on average. */
const listCallIds = (number: number) => [1, 2, 3].slice(number % 2).map((part) => `toolu_${number}x${part}`);

/** Makes the calls of the last prompt, then answers it; the reported size makes room a few times. */
function model({ raw }: SeenRequest) {
  const usage = { input_tokens: raw.length };
  const last = raw.slice(raw.lastIndexOf('Prompt number'));
  const number = Number(/^Prompt number (\d+)\./.exec(last)?.[1] ?? 0);
  const isSummary = raw.includes('<summary>') && !/Prompt number \d+\."|tool_result/.test(last.slice(0, 40));
  if (isSummary) return says('<summary>A long day of prompts.</summary>', { usage });
  const [first = '', second = '', third] = listCallIds(number);
  if (last.includes(first)) return says(`Answer ${number}.`, { usage });
  return reply(
    [
      text(`Working on ${number}.`),
      toolUse('Bash', { command: `echo ${number}`, description: 'Say the number' }, first),
      toolUse('Write', { file_path: `out/${number}.txt`, content: `${number}\n` }, second),
      ...(third === undefined ? [] : [toolUse('Read', { file_path: 'notes.txt' }, third)]),
    ],
    { usage },
  );
}

/** A clock that the test moves forward. */
function createClock(project: TempProject) {
  const file = join(project.home, 'clock');
  let hours = 0;
  async function set(): Promise<void> {
    // The library reads the file at any time, and ends the program if it is empty.
    await writeFile(`${file}.new`, `+${hours * 3600}\n`);
    await rename(`${file}.new`, file);
  }
  return {
    env: {
      LD_PRELOAD: CLOCK,
      FAKETIME_TIMESTAMP_FILE: file,
      FAKETIME_NO_CACHE: '1',
      FAKETIME_DONT_FAKE_MONOTONIC: '1',
      BUN_JSC_useJIT: undefined,
    },
    set,
    async moveHour(): Promise<void> {
      hours += 1;
      await set();
    },
  };
}

test.runIf(isWholeRun && CLOCK !== '')(
  `a conversation of ${PROMPTS} prompts over more than a day loses nothing and does not grow`,
  { timeout: 5_400_000 },
  async () => {
    await using project = await createTempProject({ 'notes.txt': 'A few words.\n'.repeat(10) });
    await using server = await startApiServer({ turns: model, remembered: 3 });
    const clock = createClock(project);
    await clock.set();
    // The window of this model is full several times a day.
    const flags = ['--model', 'claude-haiku-4-5', '--permission-mode', 'acceptEdits', '--allowedTools', 'Bash'];
    const host = startHostProcess(project, flags, server.url, { env: clock.env });
    const pid = host.running.child.pid ?? 0;
    const look = async () => ({
      mb: (await memoryMb(pid)).now,
      handles: (await readdir(`/proc/${pid}/fd`)).length,
      cpu: await cpuSeconds(pid),
    });
    const looks = [await look()];
    let results = 0;
    for (let number = 1; number <= PROMPTS; number += 1) {
      host.say(`Prompt number ${number}.`);
      const { result } = await host.waitFor((line) => line.type === 'result' && line.result === `Answer ${number}.`);
      results += result === undefined ? 0 : 1;
      if (number % PER_HOUR === 0) await clock.moveHour();
      if (number % TENTH === 0) looks.push(await look());
    }
    const problems = server.all().flatMap(({ violation }) => violation ?? []);
    expect({ results, problems, code: await host.end() }).toEqual({ results: PROMPTS, problems: [], code: 0 });
    await expectNoProcessesLeft(project.marker);

    const { id, path, records } = await storedFile(project);
    // A boundary repeats the messages that a compaction keeps.
    const stored = records
      .filter((record) => !('type' in record) || record.type !== 'compact-boundary')
      .map((record) => JSON.stringify(record));
    const numbers = Array.from({ length: PROMPTS }, (_, index) => index + 1);
    const seen = (pattern: RegExp) =>
      stored.flatMap((record) => [...record.matchAll(pattern)].map(([, found]) => found));
    expect(seen(/"tool_use_id":"(toolu_\d+x\d)"/g)).toEqual(numbers.flatMap(listCallIds));
    expect(seen(/"text":"Answer (\d+)\."/g)).toEqual(numbers.map(String));
    expect(seen(/"(?:text|content)":"Prompt number (\d+)\."/g)).toEqual(numbers.map(String));
    const hours = PROMPTS / PER_HOUR;
    const times = records.flatMap((record) => ('timestamp' in record ? Date.parse(String(record.timestamp)) : []));
    expect(Math.max(...times) - Math.min(...times)).toBeGreaterThan((hours - 1) * 3_600_000);

    const last = await runOuro(project, ['-p', '--resume', id, `Prompt number ${PROMPTS + 1}.`, ...flags], server.url);
    expect(last).toMatchObject({ code: 0, stdout: `Answer ${PROMPTS + 1}.\n` });
    expect(await readFile(path, 'utf8')).toContain(`Answer ${PROMPTS + 1}.`);

    const at = (tenth: number) => looks[tenth] ?? { mb: Number.NaN, handles: Number.NaN, cpu: Number.NaN };
    // Connections and garbage come and go: what stays is the lowest of several looks.
    expect(Math.min(...[8, 9, 10].map((tenth) => at(tenth).handles))).toBeLessThanOrEqual(at(1).handles);
    // Live data grows by 3 KB a prompt, which is what is known of the file it writes. The collector takes the rest of the
    // room: it grows for a while after 200 prompts, and after 6 prompts caches are still filling.
    const endMb = Math.min(...[8, 9, 10].map((tenth) => at(tenth).mb));
    expect(endMb / at(isNightRun ? 1 : 2).mb).toBeLessThanOrEqual(isNightRun ? 1.5 : 1.3);
    const cpuOf = (tenth: number) => at(tenth).cpu - at(tenth - 1).cpu;
    if (isNightRun) expect(cpuOf(10) / cpuOf(2)).toBeLessThanOrEqual(1.5);
  },
);
