import type { Environment } from '../contracts/environment.ts';
import type { CliRunOptions } from '../contracts/frontend/cli-run-options.ts';
import { isPermissionMode, PERMISSION_MODES, type PermissionMode } from '../contracts/permission.ts';
import type { Settings } from '../contracts/settings.ts';

/** Restores the mode of a resumed session, except bypass mode, which must be requested again. */
export function restorePermissionMode(
  options: CliRunOptions,
  { mode }: { readonly mode?: PermissionMode | undefined },
): CliRunOptions {
  if (options.permissionMode !== undefined || mode === undefined || mode === 'bypassPermissions') return options;
  return { ...options, permissionMode: mode };
}

/** The initial mode, or the reason why it is not allowed. */
export type InitialModeResult =
  | { readonly ok: true; readonly mode: PermissionMode }
  | { readonly ok: false; readonly problem: string };

/** Resolves the mode a run starts in, from flags, then settings. */
export function resolveInitialMode(
  options: CliRunOptions,
  settings: Settings,
  environment: Environment,
): InitialModeResult {
  const requested =
    options.skipPermissions === 'now'
      ? 'bypassPermissions'
      : (options.permissionMode ?? settings.permissions?.defaultMode ?? 'default');
  if (!isPermissionMode(requested))
    return {
      ok: false,
      problem: `Unknown permission mode "${requested}". Valid modes: ${PERMISSION_MODES.join(', ')}.`,
    };
  const problem = requested === 'bypassPermissions' ? findBypassProblem(options, settings, environment) : undefined;
  return problem === undefined ? { ok: true, mode: requested } : { ok: false, problem };
}

/** Returns the reason why bypass mode is not allowed in this run; undefined if it is allowed. */
export function findBypassProblem(
  options: Pick<CliRunOptions, 'skipPermissions' | 'permissionMode'>,
  settings: Settings,
  environment: Environment,
): string | undefined {
  if (settings.permissions?.disableBypassPermissionsMode === 'disable')
    return 'Settings disable bypass mode (permissions.disableBypassPermissionsMode).';
  if (isRoot() && !environment.isSandbox) {
    return 'Bypass mode is not available to root. Run ouro as another user, or set IS_SANDBOX=1 on a disposable machine.';
  }
  const isRequested =
    options.skipPermissions !== undefined ||
    options.permissionMode === 'bypassPermissions' ||
    settings.permissions?.defaultMode === 'bypassPermissions';
  return isRequested ? undefined : 'Bypass mode must be enabled at the start with --dangerously-skip-permissions.';
}

function isRoot(): boolean {
  return process.getuid?.() === 0;
}
