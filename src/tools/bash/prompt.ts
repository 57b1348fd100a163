export const BASH_PROMPT = `Runs a command in bash and gives back its output and exit code.

- Every call is a fresh shell: variables and functions do not last. The directory does, as long as it stays inside the workspace.
- stdin is closed: use flags that keep programs from asking (--yes, --no-edit, -m).
- Quote paths that hold spaces. Join steps that depend on each other with &&.
- Prefer Read, Edit, Glob and Grep to cat, sed, find and grep.
- timeout is in milliseconds (default 120000, at most 600000). For servers and watchers set run_in_background and look with BashOutput; do not use & for that.
- Say in description, in five to ten words, what the command is for.`;
