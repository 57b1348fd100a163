import { appendFile, mkdir, readFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { ignoreMissingFile } from '../../lib/errors.ts';

/** A memory file that a line typed with `#` can be added to. */
export type MemoryTarget = { readonly label: string; readonly path: string };

/** Lists the memory files for `#` lines, the project first. */
export function listMemoryTargets(paths: {
  readonly root: string;
  readonly userFile: string;
}): readonly MemoryTarget[] {
  return [
    { label: 'Project, shared (CLAUDE.md)', path: join(paths.root, 'CLAUDE.md') },
    { label: 'Project, only on this machine (CLAUDE.local.md)', path: join(paths.root, 'CLAUDE.local.md') },
    { label: 'User, all projects', path: paths.userFile },
  ];
}

/** Appends a line to a memory file, creating the file if needed; existing content is not changed. */
export async function appendMemoryLine(path: string, text: string): Promise<void> {
  const line = `- ${text
    .trim()
    .replace(/^[-*]\s+/, '')
    .replaceAll('\n', '\n  ')}`;
  const before = await ignoreMissingFile(readFile(path, 'utf8'));
  await mkdir(dirname(path), { recursive: true });
  const eol = before?.includes('\r\n') === true ? '\r\n' : '\n';
  const separator = before === undefined || before === '' || before.endsWith('\n') ? '' : eol;
  await appendFile(path, `${separator}${line.replaceAll('\n', eol)}${eol}`);
}
