/** How long a command may run: when it says nothing, and at most. */
export type ShellLimits = { readonly timeoutMs: number; readonly maxTimeoutMs: number };

/** What the model reads about the shell, with the limits that hold. */
export function bashPrompt({ timeoutMs, maxTimeoutMs }: ShellLimits): string {
  return `Runs a command in bash and gives back its output and exit code.

- Every call is a fresh shell: variables and functions do not last. The directory does, as long as it stays inside the workspace.
- stdin is closed: use flags that keep programs from asking (--yes, --no-edit, -m).
- Quote paths that hold spaces. Join steps that depend on each other with &&.
- Prefer Read, Edit, Glob and Grep to cat, sed, find and grep.
- timeout is in milliseconds (default ${timeoutMs}, at most ${maxTimeoutMs}). For servers, watchers and long work set run_in_background; do not use & for that. You hear when it ends: do not poll. BashOutput shows what it printed.
- Say in description, in five to ten words, what the command is for.`;
}
