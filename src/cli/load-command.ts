import type { CommandRequest } from './args/command-request.ts';
import type { SubcommandName } from './args/subcommands.ts';

type Program = { readonly run: (request: CommandRequest) => Promise<number> };

/** Where each subcommand lives. Nothing is loaded before it is called. */
const PROGRAMS: Readonly<Record<SubcommandName, () => Promise<Program>>> = {
  demo: () => import('./commands/demo.ts'),
  doctor: () => import('./commands/doctor.ts'),
  acp: () => import('./commands/acp.ts'),
  permissions: () => import('./commands/permissions.ts'),
  settings: () => import('./commands/settings.ts'),
  mcp: () => import('./commands/mcp.ts'),
  trust: () => import('./commands/trust.ts'),
  sessions: () => import('./commands/sessions.ts'),
  undo: () => import('./commands/undo.ts'),
  replay: () => import('./commands/replay.ts'),
  completion: () => import('./commands/completion.ts'),
  help: () => import('./commands/help.ts'),
};

export function loadCommand(name: SubcommandName): Promise<Program> {
  return PROGRAMS[name]();
}
