import { realpath } from 'node:fs/promises';
import { resolve } from 'node:path';
import { listTrustEffects, listTrustedFolders, revokeTrust, trustFolder } from '../../app/trust/manage-folder-trust.ts';
import type { SubcommandInput } from '../../command/subcommands.ts';
import { UsageError } from '../../command/usage-error.ts';
import { sanitize } from '../../lib/text/sanitize.ts';

/** Runs `ouro trust`: manages which folders may use their own settings, hooks and MCP servers. */
export async function runTrustCommand({ args: [folder], flags, io }: SubcommandInput): Promise<number> {
  if (flags.list === true && folder !== undefined) throw new UsageError('--list takes no folder.');
  const { environment } = io;
  if (flags.list === true) {
    io.stdout.write(formatLines(await listTrustedFolders(environment)));
    return 0;
  }
  const path = resolve(io.cwd, folder ?? '.');
  const dir = await realpath(path).catch(() => undefined);
  // Trust in a deleted folder can still be revoked by its path.
  if (flags.revoke === true) return printOutcome(await revokeTrust(dir ?? path, environment), io);
  if (dir === undefined) throw new UsageError(`Folder ${path} not found.`);
  if (flags.show === true) {
    io.stdout.write(formatLines(await listTrustEffects(dir, environment)));
    return 0;
  }
  return printOutcome(await trustFolder(dir, flags.below === true ? 'below' : 'folder', environment), io);
}

function printOutcome(
  { ok, lines }: { readonly ok: boolean; readonly lines: readonly string[] },
  io: SubcommandInput['io'],
): number {
  (ok ? io.stdout : io.stderr).write(formatLines(lines));
  return ok ? 0 : 1;
}

function formatLines(lines: readonly string[]): string {
  return lines.map((line) => `${sanitize(line, 'line')}\n`).join('');
}
