import type { Environment } from '../contracts/environment.ts';
import type { RunOptions } from '../contracts/face/run-options.ts';
import { isMode, MODES, type PermissionMode } from '../contracts/permission.ts';
import type { Settings } from '../contracts/settings.ts';

/** A resumed session goes on in its mode; only the one that asks nobody has to be asked for again. */
export function withStoredMode(
  options: RunOptions,
  { mode }: { readonly mode?: PermissionMode | undefined },
): RunOptions {
  if (options.permissionMode !== undefined || mode === undefined || mode === 'bypassPermissions') return options;
  return { ...options, permissionMode: mode };
}

export type FirstMode =
  | { readonly ok: true; readonly mode: PermissionMode }
  | { readonly ok: false; readonly problem: string };

/** The mode a run begins in. */
export function firstMode(options: RunOptions, settings: Settings, environment: Environment): FirstMode {
  const wanted =
    options.skipPermissions === 'now'
      ? 'bypassPermissions'
      : (options.permissionMode ?? settings.permissions?.defaultMode ?? 'default');
  if (!isMode(wanted))
    return { ok: false, problem: `There is no permission mode "${wanted}". There are: ${MODES.join(', ')}.` };
  const objection = wanted === 'bypassPermissions' ? bypassObjection(options, settings, environment) : undefined;
  return objection === undefined ? { ok: true, mode: wanted } : { ok: false, problem: objection };
}

/** Why asking may not be switched off here; `undefined` when it may. */
export function bypassObjection(
  options: Pick<RunOptions, 'skipPermissions' | 'permissionMode'>,
  settings: Settings,
  environment: Environment,
): string | undefined {
  if (settings.permissions?.disableBypassPermissionsMode === 'disable')
    return 'Switching permissions off is forbidden by settings.';
  if (isRoot() && !environment.isSandbox) {
    return 'Permissions are not switched off for root. Run ouro as another user, or set IS_SANDBOX=1 on a disposable machine.';
  }
  const asked =
    options.skipPermissions !== undefined ||
    options.permissionMode === 'bypassPermissions' ||
    settings.permissions?.defaultMode === 'bypassPermissions';
  return asked ? undefined : 'Switching permissions off needs the flag --dangerously-skip-permissions at the start.';
}

function isRoot(): boolean {
  return process.getuid?.() === 0;
}
