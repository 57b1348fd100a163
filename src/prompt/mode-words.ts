import type { PermissionMode } from '../contracts/permission.ts';

/** What the model should know about the permission mode it now works in. */
export function modeWords(mode: PermissionMode): string {
  switch (mode) {
    case 'plan':
      return 'Plan mode is on: look and think, but change nothing, neither files nor anything a command could change. When you know what to do, put a plan before the user with ExitPlanMode: what will change, where, how it will be checked, and what is still open.';
    case 'acceptEdits':
      return 'Edits inside the project are now accepted without a question; commands still ask.';
    case 'dontAsk':
      return 'Nobody is asked any more: a call that is not already allowed is refused.';
    case 'bypassPermissions':
      return 'Permission questions are switched off. Be all the more careful with what cannot be undone.';
    case 'default':
      return 'The ordinary permission mode is on: calls that change something may be asked about.';
  }
}
