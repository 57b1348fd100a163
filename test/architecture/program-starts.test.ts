import { expect, test } from 'vitest';
import { isPackaged, readSources } from './sources.ts';

/** Finds the files of src and of the packages that match, by their path from the root. */
function listFiles(pattern: RegExp): readonly string[] {
  return Object.entries(readSources())
    .filter(([path, text]) => /\.tsx?$/.test(path) && pattern.test(text))
    .map(([path]) => (isPackaged(path) ? path : `src/${path}`))
    .toSorted();
}

/** The modules that spawn processes, and what each starts. A language server or a hook is started by none but two. */
const SPAWNING: Readonly<Record<string, string>> = {
  'packages/fleet/src/worker/run-ouro-child.ts': 'ouro itself',
  'src/app/setup/doctor.ts': 'git and the terminal, for their versions',
  'src/checkpoints/restore-path.ts': 'mkfifo',
  'src/git/run-git.ts': 'git, hardened',
  'src/lib/files/mount-health.ts': 'a shell that looks at mounts',
  'src/lib/processes/find-shell.ts': 'checked lines, and bash to learn about locales',
  'src/lib/processes/piped-program.ts': 'checked programs: language servers, MCP servers',
  'src/lib/processes/process-info.ts': 'ps',
  'src/lib/processes/run-program.ts': 'programs for the files below',
  'src/sandbox/backend.ts': 'the sandbox itself',
  'src/sandbox/network/network-bridge.ts': 'the sandbox itself',
  'src/sandbox/repositories/nested-repositories.ts': 'git, without configuration',
  'src/sandbox/trial-layer.ts': 'the sandbox itself',
  'src/tools/bash/run-shell.ts': 'commands that the gate decided about',
  'src/tools/search/ripgrep-backend.ts': 'the bundled ripgrep',
  'src/ui/effects/clipboard.ts': 'programs of the clipboard',
  'src/ui/terminal/terminal-handover.ts': 'the editor of the user',
};

/** The modules that run programs without a check, and what each runs. */
const RUNNING: Readonly<Record<string, string>> = {
  'packages/fleet/src/cli/worker-command.ts': 'programs of the worker',
  'packages/fleet/src/git/fleet-git.ts': 'git, hardened',
  'packages/fleet/src/git/open-forge.ts': 'gh',
  'packages/fleet/src/git/task-patch.ts': 'find',
  'packages/fleet/src/worker/task-signature.ts': 'ssh-keygen',
  'src/cli/installation/update.ts': 'npm, outside of the working directory',
  'src/exports/commands.ts': 'what packages run',
  'src/extensions/plugins/fetch-npm-package.ts': 'npm and tar, outside of the working directory',
  'src/lib/processes/find-shell.ts': 'checked lines',
  'src/lib/processes/process-info.ts': 'ps',
  'src/lib/processes/windows-processes.ts': 'programs of Windows',
  'src/lsp/run-formatters-and-linters.ts': 'checked formatters and linters',
  'src/model/api-keys.ts': 'the keyring',
  'src/model/providers/entra-token.ts': 'az',
  'src/ui/effects/clipboard.ts': 'programs of the clipboard',
  'src/ui/terminal/tmux.ts': 'tmux',
};

/** The modules whose starts are allowed without a look at files, and why. */
const UNCHECKED: Readonly<Record<string, string>> = {
  'packages/eval/src/eval-task.ts': 'the set-up of a task, in a folder made for it',
  'packages/fleet/src/tasks/find-task-targets.ts': 'a command that the user typed',
  'packages/fleet/src/worker/task-sandbox.ts': 'commands of tasks, in their sandbox',
  'src/exports/commands.ts': 'what packages start',
  'src/lib/processes/program-check.ts': 'its definition',
  'src/sdk/agent-hooks.ts': 'hooks that the host program chose',
  'src/sdk/mcp.ts': 'servers that the host program chose',
};

test.each([
  ['spawn processes', /node:child_process|(?:from|import\() ?'execa'|Bun\.spawn/, SPAWNING],
  [
    'run programs',
    /\brun(?:Program|ForOutput)\(|[,{] run(?:Program|ForOutput)\b[^'\n]* from '[^']*run-program\.ts'/,
    RUNNING,
  ],
  ['start programs without a check', /\bstartUnchecked\b/, UNCHECKED],
])('only known modules %s', (_, pattern, known) => {
  const found = listFiles(pattern).filter(
    (file) => !(file === 'src/lib/processes/run-program.ts' && known === RUNNING),
  );
  expect(found).toEqual(Object.keys(known));
});
