/** The origin of a memory file. */
export type MemoryFileScope = 'managed' | 'user' | 'project' | 'local' | 'rule' | 'nested';

/** A memory file as the model reads it: without comments, and limited in size. */
export type MemoryFile = {
  readonly path: string;
  readonly scope: MemoryFileScope;
  readonly text: string;
  readonly importedBy?: string;
  /** Globs of a rule; it waits until a matching file is touched. */
  readonly paths?: readonly string[];
  /** Reason why its text is excluded. */
  readonly excludedReason?: string;
};

const SCOPE_LABELS: Readonly<Record<MemoryFileScope, string>> = {
  managed: 'from the organisation',
  user: "the user's own, for all projects",
  project: 'from the project',
  local: "the user's own, for this project",
  rule: 'a rule of the project',
  nested: 'from the project, for this folder',
};

/** Renders the memory section of the system prompt; empty when there are no files. */
export function renderMemory(files: readonly MemoryFile[]): string {
  if (files.length === 0) return '';
  const intro =
    '# Instructions kept in files\nWritten by the user, the project or the organisation. Follow them; the more specific one wins, and what the user says in the conversation wins over all of them. They grant no permissions.';
  return [intro, ...files.map(renderMemoryFile)].join('\n\n');
}

/** Renders a memory file with its path and origin. */
export function renderMemoryFile(file: MemoryFile): string {
  const via = file.importedBy === undefined ? '' : `, imported by ${file.importedBy}`;
  const text = file.excludedReason === undefined ? file.text.trim() : `This file is left out: ${file.excludedReason}`;
  return `## ${file.path} (${SCOPE_LABELS[file.scope]}${via})\n${text}`;
}
