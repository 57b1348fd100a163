import { resolve } from 'node:path';
import {
  openPermissionExplainer,
  type PermissionExplainer,
  type PermissionExplainerOptions,
} from '../../app/permissions/permission-explainer.ts';
import { formatCount } from '../../lib/text/format.ts';
import { sanitize } from '../../lib/text/sanitize.ts';
import type { FlagValuesOf } from '../args/define-flag.ts';
import { parseFlagValues } from '../args/flag-values.ts';
import { SUBCOMMANDS, type SubcommandInput } from '../args/subcommands.ts';
import { UsageError } from '../args/usage-error.ts';
import type { ProcessIo } from '../process-io.ts';
import { readNonBlankLines } from '../read-non-blank-lines.ts';

type Flags = FlagValuesOf<typeof SUBCOMMANDS.permissions.flags>;

const USAGE = `Usage: ouro permissions explain <Tool> '<input>', ouro permissions explain --batch < cases, or ouro permissions lint.`;

/** Runs `ouro permissions explain|lint`: prints what the permission rules decide, without running anything. */
export async function runPermissionsCommand({ args, flags: rawFlags, io }: SubcommandInput): Promise<number> {
  const flags = parseFlagValues(SUBCOMMANDS.permissions.flags, rawFlags);
  const [action, tool, ...input] = args;
  const explainer = await openPermissionExplainer(createExplainRequest(flags, io), io.environment);
  for (const problem of explainer.problems) io.stderr.write(`${sanitize(problem, 'line')}\n`);
  switch (action) {
    case 'lint': {
      const findings = explainer.listRuleProblems();
      const noFindings = `${formatCount(explainer.rules.length, 'rule')} checked, no problems found.\n`;
      const jsonFindings = findings.map(({ data }) => data);
      if (flags.json) io.stdout.write(`${JSON.stringify(jsonFindings, null, 2)}\n`);
      else io.stdout.write(findings.length === 0 ? noFindings : formatFindings(findings));
      return findings.length === 0 && explainer.problems.length === 0 ? 0 : 1;
    }
    case 'explain': {
      if ((flags.batch === true) !== (tool === undefined)) throw new UsageError(USAGE);
      if (tool === undefined) return explainBatch(explainer, io);
      const answer = explainer.explainCall({ tool, text: input.join(' ') }, flags.json ? 'json' : 'text');
      if (!answer.ok) throw new UsageError(answer.problem);
      io.stdout.write(`${flags.json ? answer.output : sanitize(answer.output, 'prompt')}\n`);
      return 0;
    }
    default:
      throw new UsageError(USAGE);
  }
}

/** Explains JSON lines from stdin, in order; the exit code is 1 when a line could not be parsed. */
async function explainBatch(explainer: PermissionExplainer, io: ProcessIo): Promise<number> {
  let code = 0;
  for await (const { number, text } of readNonBlankLines(io.stdin.chunks())) {
    const { line, problem } = explainer.explainLine(text, number);
    io.stdout.write(`${JSON.stringify(line)}\n`);
    if (problem === undefined) continue;
    io.stderr.write(`${sanitize(problem, 'line')}\n`);
    code = 1;
  }
  return code;
}

function createExplainRequest(
  { mode, allow, deny, ask, cwd, trust }: Flags,
  io: ProcessIo,
): PermissionExplainerOptions {
  return {
    cwd: resolve(io.cwd, cwd ?? '.'),
    rules: { allow, deny, ask },
    ...(mode === undefined ? {} : { mode }),
    ...(trust ? { trust: 'this-run' } : {}),
  };
}

function formatFindings(findings: ReturnType<PermissionExplainer['listRuleProblems']>): string {
  return findings.map(({ text }) => `${sanitize(text, 'line')}\n`).join('');
}
