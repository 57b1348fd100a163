import { existsSync } from 'node:fs';
import { join, relative } from 'node:path';
import type { CommandOutcome } from '../../contracts/face/command.ts';
import { messageOf } from '../../lib/errors.ts';
import { diskFs } from '../../permissions/paths/fs.ts';
import { isInside, resolvePath } from '../../permissions/paths/paths.ts';
import { appendPin, pinTargets } from '../../prompt/memory/pins.ts';
import { instructionBounds } from '../settings/project-folders.ts';
import type { ConversationParts } from './conversation-parts.ts';

/** `# words`: kept in a memory file for later sessions, and pinned in this one so that no compaction touches it. */
export async function pinWords(line: string, { agent, loop, core }: ConversationParts): Promise<CommandOutcome> {
  const { words, place } = placed(line);
  if (words === '') return { kind: 'failed', words: 'Say what to keep in mind: # tests live beside the code' };
  const { cwd, environment } = core;
  const { root } = core.repository;
  const [project, local, user] = pinTargets({ root, userFile: join(environment.ouroHome, 'CLAUDE.md') });
  const target = { project, local, user }[place];
  if (target === undefined) return { kind: 'failed', words: `There is no place called ${place}.` };
  await loop.ready();
  const agentsFile = join(root, 'AGENTS.md');
  const path = place === 'project' && !existsSync(target.path) && existsSync(agentsFile) ? agentsFile : target.path;
  const { real, problem } = resolvePath(diskFs, { cwd, home: environment.home }, path);
  const bounds = instructionBounds(cwd, root, environment.home);
  if (place !== 'user' && (problem !== undefined || !bounds.some((folder) => isInside(real, folder)))) {
    return { kind: 'failed', words: `${path} is a link to ${real}, which lies outside: nothing was written there.` };
  }
  await agent.pin(words);
  try {
    await appendPin(path, words);
  } catch (thrown) {
    return {
      kind: 'failed',
      words: `It holds for this conversation, but could not be written to ${path}: ${messageOf(thrown)}.`,
    };
  }
  await loop.prompt.memory.accept({ path, scope: place });
  const later =
    core.trusted || place === 'user' ? '' : ' Later sessions read it once this folder is trusted (ouro trust).';
  return { kind: 'done', words: `Kept in ${relative(cwd, path) || path}, and pinned in this conversation.${later}` };
}

/** `# user: words`, `# local: words`; the project's shared file otherwise. */
function placed(line: string): { readonly words: string; readonly place: 'project' | 'local' | 'user' } {
  const [, name, rest] = /^(project|local|user):\s*(.*)$/s.exec(line.trim()) ?? [];
  if (name !== 'project' && name !== 'local' && name !== 'user') return { words: line.trim(), place: 'project' };
  return { words: (rest ?? '').trim(), place: name };
}
