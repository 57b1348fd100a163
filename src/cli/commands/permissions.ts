import { resolve } from 'node:path';
import { z } from 'zod';
import { explainCall, explainLine, lintPolicy } from '../../app/explain-call.ts';
import { type ExplainWish, explainPolicy } from '../../app/explain-policy.ts';
import { isMode, MODES } from '../../app/first-mode.ts';
import type { Policy } from '../../contracts/permission.ts';
import { sanitize } from '../../lib/text/sanitize.ts';
import type { CommandRequest } from '../command-request.ts';
import { readLines } from '../control/read-lines.ts';
import type { Io } from '../io.ts';
import { UsageError } from '../usage-error.ts';

const list = z.array(z.string()).default([]);
const flagsSchema = z.object({
  mode: z.string().optional(),
  allow: list,
  deny: list,
  ask: list,
  cwd: z.string().optional(),
  json: z.boolean().default(false),
  batch: z.boolean().default(false),
  trust: z.boolean().default(false),
});
type Flags = z.output<typeof flagsSchema>;

const USAGE = `Usage: ouro permissions explain Tool 'input', ouro permissions explain --batch < cases, or ouro permissions lint.`;

/** `ouro permissions explain|lint`: what the rules say, without running anything. */
export async function run({ words, flags, io }: CommandRequest): Promise<number> {
  const given = flagsSchema.parse(flags);
  const [what, tool, ...input] = words;
  const { policy, rules, problems } = await explainPolicy(wishOf(given, io), io.environment);
  for (const problem of problems) io.stderr.write(`${sanitize(problem, 'line')}\n`);
  switch (what) {
    case 'lint': {
      const found = lintPolicy(rules);
      if (given.json)
        io.stdout.write(
          `${JSON.stringify(
            found.map(({ data }) => data),
            null,
            2,
          )}\n`,
        );
      else io.stdout.write(found.length === 0 ? `${rules.length} rules, nothing wrong with them.\n` : linesOf(found));
      return found.length === 0 && problems.length === 0 ? 0 : 1;
    }
    case 'explain': {
      if (given.batch) return batch(policy, io);
      if (tool === undefined) throw new UsageError(USAGE);
      const answer = explainCall({ tool, text: input.join(' ') }, policy, given.json ? 'json' : 'text');
      if (!answer.ok) throw new UsageError(answer.problem);
      io.stdout.write(`${given.json ? answer.words : sanitize(answer.words, 'prompt')}\n`);
      return 0;
    }
    default:
      throw new UsageError(USAGE);
  }
}

/** JSON lines in, JSON lines out, in order. Fails when a line could not be read. */
async function batch(policy: Policy, io: Io): Promise<number> {
  let code = 0;
  for await (const { number, text } of readLines(io.stdin.chunks())) {
    const { line, problem } = explainLine(text, number, policy);
    io.stdout.write(`${JSON.stringify(line)}\n`);
    if (problem === undefined) continue;
    io.stderr.write(`${sanitize(problem, 'line')}\n`);
    code = 1;
  }
  return code;
}

function wishOf({ mode, allow, deny, ask, cwd, trust }: Flags, io: Io): ExplainWish {
  if (mode !== undefined && !isMode(mode)) {
    throw new UsageError(`There is no permission mode "${mode}". There are: ${MODES.join(', ')}.`);
  }
  return {
    cwd: resolve(io.cwd, cwd ?? '.'),
    rules: { allow, deny, ask },
    ...(mode === undefined ? {} : { mode }),
    ...(trust ? { trust: 'this-run' } : {}),
  };
}

function linesOf(found: ReturnType<typeof lintPolicy>): string {
  return found.map(({ text }) => `${sanitize(text, 'line')}\n`).join('');
}
