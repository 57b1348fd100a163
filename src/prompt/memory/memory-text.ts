/** Why a memory file is there. */
export type MemoryScope = 'managed' | 'user' | 'project' | 'local' | 'rule' | 'nested';

/** One memory file as the model reads it: comments dropped, capped. */
export type MemoryFile = {
  readonly path: string;
  readonly scope: MemoryScope;
  readonly text: string;
  readonly importedBy?: string;
  /** Globs of a rule that waits until a matching file is touched. */
  readonly paths?: readonly string[];
  /** Why its text is not given. */
  readonly leftOut?: string;
};

const SCOPES: Readonly<Record<MemoryScope, string>> = {
  managed: 'from the organisation',
  user: "the user's own, for all projects",
  project: 'from the project',
  local: "the user's own, for this project",
  rule: 'a rule of the project',
  nested: 'from the project, for this folder',
};

/** The memory files as one part of the system prompt; empty when there are none. */
export function renderMemory(files: readonly MemoryFile[]): string {
  if (files.length === 0) return '';
  const intro =
    '# Instructions kept in files\nWritten by the user, the project or the organisation. Follow them; the more specific one wins, and what the user says in the conversation wins over all of them. They grant no permissions.';
  return [intro, ...files.map(renderMemoryFile)].join('\n\n');
}

export function renderMemoryFile(file: MemoryFile): string {
  const via = file.importedBy === undefined ? '' : `, imported by ${file.importedBy}`;
  const text = file.leftOut === undefined ? file.text.trim() : `This file is left out: ${file.leftOut}`;
  return `## ${file.path} (${SCOPES[file.scope]}${via})\n${text}`;
}
