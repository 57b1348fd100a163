import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { chmod, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { bareEnvironment } from '../../../../test/support/environment.ts';
import type { TempProject } from '../../../../test/support/temp-project.ts';
import type { NewBatch, NewBatchTask } from '../../src/store/batch.ts';
import type { StormRole } from './fleet-process.ts';

const ROOT = join(import.meta.dirname, '../../../..');

/** Starts one process of a storm; it dies with its project. */
export function startStorm(project: TempProject, role: StormRole): ChildProcess {
  const flags = [
    '--no-env-file',
    `--config=${join(ROOT, 'bunfig.toml')}`,
    `--tsconfig-override=${join(ROOT, 'tsconfig.json')}`,
  ];
  const main = join(import.meta.dirname, 'fleet-process.ts');
  return spawn(process.execPath, [...flags, main, JSON.stringify(role)], {
    cwd: project.dir,
    env: bareEnvironment(project),
    stdio: ['ignore', 'pipe', 'inherit'],
  });
}

/** Resolves with the exit code. */
export async function waitForExit(child: ChildProcess): Promise<number | null> {
  if (child.exitCode !== null) return child.exitCode;
  await once(child, 'exit');
  return child.exitCode;
}

/** Resolves when a process has printed a word. */
export function waitForOutput(child: ChildProcess, word: string): Promise<void> {
  return new Promise((resolve) => {
    child.stdout?.on('data', (chunk) => {
      if (String(chunk).includes(word)) resolve();
    });
    child.once('exit', () => resolve());
  });
}

/**
 * A program that stands for ouro: the last line of its prompt says how long it works, what that costs, its name and how
 * it ends. It leaves a line in `begun` for each time it was started, so that work done twice is seen; while a file
 * `gone` is there the quota is used up, and it leaves a line in `refused`.
 */
export async function fakeOuro(project: TempProject): Promise<string> {
  const program = join(project.dir, 'fake-ouro');
  const text = `#!/bin/sh
prompt=$(cat)
set -- $(printf '%s\\n' "$prompt" | tail -n 1)
if [ -f "${join(project.dir, 'gone')}" ]; then
  echo "$3" >> "${join(project.dir, 'refused')}"
  echo '{"type":"result","subtype":"error_during_execution","is_error":true,"errors":["no credit"],"api_error_kind":"no_credit","api_error_status":402,"num_turns":1,"total_cost_usd":0,"permission_denials":[],"terminal_reason":"api_error"}'
  exit 1
fi
echo "$3" >> "${join(project.dir, 'begun')}"
[ -d .git ] || [ -f .git ] && echo "$3" > done.txt
echo '{"type":"system","subtype":"spend","total_cost_usd":'$2'}'
sleep "$1"
if [ "$4" = fails ]; then
  echo '{"type":"result","subtype":"error_during_execution","is_error":true,"errors":["it is beyond me"],"num_turns":1,"total_cost_usd":'$2',"permission_denials":[],"terminal_reason":"model_error"}'
  exit 1
fi
echo '{"type":"result","subtype":"success","is_error":false,"result":"ok","num_turns":1,"total_cost_usd":'$2',"permission_denials":[],"terminal_reason":"completed"}'
`;
  await writeFile(program, text);
  await chmod(program, 0o755);
  return program;
}

/** Tasks of so many seconds and dollars each. */
export function stormTasks(
  count: number,
  seconds: number,
  dollars: (at: number) => number = () => 0.001,
  fails: (at: number) => boolean = () => false,
): readonly NewBatchTask[] {
  return Array.from({ length: count }, (_, at) => ({
    key: `task-${at}`,
    title: `task ${at}`,
    spec: {
      prompt: `${seconds} ${dollars(at).toFixed(4)} task-${at} ${fails(at) ? 'fails' : 'ends'}`,
      mode: 'acceptEdits',
      allowedTools: [],
      disallowedTools: [],
      env: [],
      minutes: 5,
    },
    lane: 'anthropic',
    kind: 'work',
    priority: 0,
  }));
}

export function stormBatch(limits: Partial<NewBatch['limits']> = {}): NewBatch {
  return {
    id: 'storm',
    name: 'storm',
    priority: 0,
    collect: { as: 'patches', name: 'storm' },
    limits: { each: 1_000_000, all: 1_000_000_000, attempts: 20, atOnce: 100, ...limits },
  };
}
