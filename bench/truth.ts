// Compares what commands print and return in our sandboxes with what they do on the host:
//   npm run truth -- [--trial] FOLDER...
// Each folder is a project. It is copied twice; the same lines run in both copies, one after the other, once as the
// program runs them where a sandbox works, and once where there is none. A line whose results differ without a word
// about the sandbox is misleading. With --trial, commands that would be asked about are first tried in a throw-away layer.
import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, symlinkSync } from 'node:fs';
import { cp } from 'node:fs/promises';
import { basename, join } from 'node:path';
import type { AgentEvent } from '../src/contracts/event.ts';
import type { PermissionRequest } from '../src/contracts/permission.ts';
import { calls, says, toolUse } from '../test/support/api/reply.ts';
import { startApiServer } from '../test/support/api/server.ts';
import { composed } from '../test/support/composed.ts';
import { createTempProject } from '../test/support/temp-project.ts';
import { linesFor } from './truth-lines.ts';

/** Commands have a `/tmp` of their own, so the copies lie elsewhere. */
const PARENT = '/var/tmp';
const TIMEOUT_MS = 60_000;
const isTrying = process.argv.includes('--trial');

type Result = { readonly text: string; readonly asked: readonly PermissionRequest[] };
type Verdict = 'same' | 'told' | 'asked' | 'misleading';

/** Runs all lines in a folder, one after the other, as a conversation does. */
async function runLines(folder: string, lines: readonly string[], path: string): Promise<readonly Result[]> {
  await using project = await createTempProject({}, PARENT);
  await project.write('../home/.ouro/settings.json', JSON.stringify({ commandTrial: isTrying ? 'on' : 'off' }));
  await cp(folder, project.dir, { recursive: true, verbatimSymlinks: true });
  const turns = [...lines.map((command) => calls(toolUse('Bash', { command, timeout: TIMEOUT_MS }))), says('Done.')];
  await using server = await startApiServer({ turns });
  const results: Result[] = [];
  let asked: PermissionRequest[] = [];
  const made = await composed(project, server.url, { frontend: 'screen' }, { PATH: path, NO_PROXY: '*' });
  const { agent } = made.conversation;
  const answer = (request: PermissionRequest) => {
    asked.push(request);
    agent.answerPermission(request.id, {
      behavior: 'allow',
      ...(request.canSandbox && !isTrying && { sandbox: 'auto' }),
    });
  };
  const take = (event: AgentEvent) => {
    if (event.type === 'permission_request') answer(event.request);
    if (event.type !== 'tool_end') return;
    const { content } = event.result;
    const text = typeof content === 'string' ? content : JSON.stringify(content);
    results.push({ text: normalize(text, project.dir), asked });
    asked = [];
  };
  agent.subscribe(take);
  await agent.prompt('go');
  await made.close();
  return results;
}

/** Removes what differs between any two runs: times, hashes, process ids, the place of the copy. */
function normalize(text: string, dir: string): string {
  return text
    .replaceAll(dir, '/project')
    .replaceAll(/\b[0-9a-f]{7,40}\b/g, '<hash>')
    .replaceAll(/\b\d+(?:\.\d+)?\s?(?:ms|s|sec|seconds|min)\b/g, '<time>')
    .replaceAll(/\b\d\d:\d\d(?::\d\d(?:\.\d+)?)?\b/g, '<clock>')
    .replaceAll(/\b(?:pid|port)\W*\d+/gi, '<number>')
    .replaceAll(/\/tmp\/[\w./-]+/g, '/tmp/<name>');
}

/** Notes of a sandbox in a result, and the errors that can have no other cause there. */
const TOLD = /sandbox|read-only file system|permission denied|network is unreachable|EROFS|EACCES|ENETUNREACH/i;

function judge(boxed: Result, host: Result): Verdict {
  if (boxed.text === host.text) return 'same';
  if (boxed.asked.some(({ reasons }) => reasons.some((reason) => /sandbox|, so nothing of it was kept/.test(reason))))
    return 'asked';
  return TOLD.test(boxed.text) ? 'told' : 'misleading';
}

/** Links every program of PATH into a folder, but for those that create sandboxes. */
function createPathWithoutSandbox(room: string): string {
  const bin = join(room, 'bin');
  mkdirSync(bin);
  for (const folder of (process.env.PATH ?? '').split(':')) {
    for (const name of listNames(folder)) {
      if (name === 'bwrap') continue;
      try {
        symlinkSync(join(folder, name), join(bin, name));
      } catch {
        // A folder before this one has a program of that name.
      }
    }
  }
  return bin;
}

function listNames(folder: string): readonly string[] {
  try {
    return readdirSync(folder);
  } catch {
    return [];
  }
}

const room = mkdtempSync(join(PARENT, 'ouro-truth-'));
const hostPath = createPathWithoutSandbox(room);
const counts: Record<Verdict, number> = { same: 0, told: 0, asked: 0, misleading: 0 };
let askedCount = 0;
for (const folder of process.argv.slice(2).filter((arg) => arg !== '--trial')) {
  const name = basename(folder);
  const lines = linesFor(readdirSync(folder), readManifest(folder));
  const boxed = await runLines(folder, lines, process.env.PATH ?? '');
  const host = await runLines(folder, lines, hostPath);
  for (const [index, line] of lines.entries()) {
    const [one, other] = [boxed[index], host[index]];
    if (one === undefined || other === undefined) throw new Error(`${name}: no result for ${line}`);
    const verdict = judge(one, other);
    counts[verdict] += 1;
    if (one.asked.length > 0) askedCount += 1;
    if (verdict === 'same') continue;
    process.stdout.write(`\n${verdict}  ${name}  ${line}\n`);
    if (verdict === 'misleading')
      process.stdout.write(`  sandbox: ${shorten(one.text)}\n  host:    ${shorten(other.text)}\n`);
  }
}
rmSync(room, { recursive: true, force: true });
const total = Object.values(counts).reduce((sum, count) => sum + count, 0);
process.stdout.write(
  `\n${total} lines: ${counts.same} the same, ${counts.told} different and told, ${counts.asked} asked about after a first run, ${counts.misleading} misleading; ${askedCount} questions in all\n`,
);

function readManifest(folder: string): string {
  try {
    return readFileSync(join(folder, 'package.json'), 'utf8');
  } catch {
    return '';
  }
}

function shorten(text: string): string {
  return JSON.stringify(text.length > 300 ? `${text.slice(0, 150)} … ${text.slice(-150)}` : text);
}
