import { resolve } from 'node:path';
import { type Explainer, type ExplainWish, openExplainer } from '../../app/permissions/explainer.ts';
import { sanitize } from '../../lib/text/sanitize.ts';
import type { ValuesOf } from '../args/flag.ts';
import { readFlags } from '../args/read-flags.ts';
import { type CommandRequest, SUBCOMMANDS } from '../args/subcommands.ts';
import { UsageError } from '../args/usage-error.ts';
import { readLines } from '../control/read-lines.ts';
import type { Io } from '../io.ts';

type Flags = ValuesOf<typeof SUBCOMMANDS.permissions.flags>;

const USAGE = `Usage: ouro permissions explain Tool 'input', ouro permissions explain --batch < cases, or ouro permissions lint.`;

/** `ouro permissions explain|lint`: what the rules say, without running anything. */
export async function run({ words, flags, io }: CommandRequest): Promise<number> {
  const given = readFlags(SUBCOMMANDS.permissions.flags, flags);
  const [what, tool, ...input] = words;
  const explainer = await openExplainer(wishOf(given, io), io.environment);
  for (const problem of explainer.problems) io.stderr.write(`${sanitize(problem, 'line')}\n`);
  switch (what) {
    case 'lint': {
      const found = explainer.lint();
      if (given.json)
        io.stdout.write(
          `${JSON.stringify(
            found.map(({ data }) => data),
            null,
            2,
          )}\n`,
        );
      else
        io.stdout.write(
          found.length === 0 ? `${explainer.rules.length} rules, nothing wrong with them.\n` : linesOf(found),
        );
      return found.length === 0 && explainer.problems.length === 0 ? 0 : 1;
    }
    case 'explain': {
      if (given.batch) return batch(explainer, io);
      if (tool === undefined) throw new UsageError(USAGE);
      const answer = explainer.call({ tool, text: input.join(' ') }, given.json ? 'json' : 'text');
      if (!answer.ok) throw new UsageError(answer.problem);
      io.stdout.write(`${given.json ? answer.words : sanitize(answer.words, 'prompt')}\n`);
      return 0;
    }
    default:
      throw new UsageError(USAGE);
  }
}

/** JSON lines in, JSON lines out, in order. Fails when a line could not be read. */
async function batch(explainer: Explainer, io: Io): Promise<number> {
  let code = 0;
  for await (const { number, text } of readLines(io.stdin.chunks())) {
    const { line, problem } = explainer.line(text, number);
    io.stdout.write(`${JSON.stringify(line)}\n`);
    if (problem === undefined) continue;
    io.stderr.write(`${sanitize(problem, 'line')}\n`);
    code = 1;
  }
  return code;
}

function wishOf({ mode, allow, deny, ask, cwd, trust }: Flags, io: Io): ExplainWish {
  return {
    cwd: resolve(io.cwd, cwd ?? '.'),
    rules: { allow, deny, ask },
    ...(mode === undefined ? {} : { mode }),
    ...(trust ? { trust: 'this-run' } : {}),
  };
}

function linesOf(found: ReturnType<Explainer['lint']>): string {
  return found.map(({ text }) => `${sanitize(text, 'line')}\n`).join('');
}
