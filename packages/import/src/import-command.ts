import { parseFlagValues, SUBCOMMANDS, type SubcommandInput, UsageError } from '@ouro-cli/ouro/commands';
import { planImport } from './foreign-imports.ts';

/** Runs `ouro import [what…]`: lists files of other assistants, and imports them with `--yes`. */
export async function runImportCommand({ args, flags: rawFlags, io }: SubcommandInput): Promise<number> {
  const flags = parseFlagValues(SUBCOMMANDS.import.flags, rawFlags);
  const { environment, cwd } = io;
  const plan = await planImport(environment, cwd, args);
  if (!plan.ok) throw new UsageError(plan.problem);
  const { count, lines, skipped } = plan;
  const sessionsHint = args.length === 0 ? SESSIONS_HINT : '';
  if (count === 0 && skipped.length === 0) {
    const what = args.includes('sessions') ? 'sessions' : 'files';
    io.stdout.write(`Nothing to import: no ${what} of other assistants were found here.\n${sessionsHint}`);
    return 0;
  }
  if (flags.yes !== true) {
    for (const line of lines) io.stdout.write(`${line}\n`);
    io.stdout.write(sessionsHint);
    if (count > 0) io.stdout.write(`Nothing was changed. "ouro import${formatArgs(args)} --yes" imports it.\n`);
    return 0;
  }
  const { taken, failed } = await plan.apply();
  for (const line of taken) io.stdout.write(`${line}\n`);
  for (const line of [...failed, ...skipped]) io.stderr.write(`not imported: ${line}\n`);
  return failed.length === 0 ? 0 : 1;
}

const SESSIONS_HINT =
  '"ouro import sessions" lists sessions of this project, "ouro import sessions all" of all folders.\n';

const formatArgs = (args: readonly string[]) => args.map((arg) => ` ${arg}`).join('');
