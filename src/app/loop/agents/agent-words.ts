import { realpath } from 'node:fs/promises';
import { join } from 'node:path';
import type { AgentKind, Skill } from '../../../contracts/extension.ts';
import { findSkill } from '../../../extensions/load-skills.ts';
import { ifThere } from '../../../lib/files/errno.ts';
import { readRegular } from '../../../lib/files/read-regular.ts';
import { isInside } from '../../../permissions/paths/paths.ts';
import { rulesOfTexts } from '../../../permissions/rules/collect-rules.ts';
import type { Core } from '../../core.ts';
import type { GateBounds } from '../../permissions/gate.ts';
import { literal } from '../../permissions/policy.ts';
import type { AgentPlace } from './agent-place.ts';

const NOTES_FILE = 'MEMORY.md';
const NOTES_LINES = 200;
const NOTES_BYTES = 25_000;

/** What a sub-agent knows from the start: its own words, the skills it has by heart, the notes it kept. */
export async function agentWords(core: Core, kind: AgentKind): Promise<string> {
  const { skills } = core.extensions.now();
  const known = (kind.skills ?? []).flatMap((name) => findSkill(skills, name) ?? []);
  const notes = notesFolder(core, kind);
  return [kind.prompt, ...known.map(skillWords), ...(notes === undefined ? [] : [await notesWords(notes)])].join(
    '\n\n',
  );
}

function skillWords({ name, folder, body }: Skill): string {
  return `# Skill ${name} (its files are in ${folder})\n\n${body.trim()}`;
}

/** Where a sub-agent keeps notes; nowhere when it keeps none, or when they would lie in a folder nobody trusts. */
function notesFolder({ cwd, trusted, environment }: Core, { name, memory }: AgentKind): string | undefined {
  if (memory === undefined || (memory !== 'user' && !trusted)) return undefined;
  const called = name.replace(/[^\w.-]+/g, '-').replace(/^\.+/, '');
  if (memory === 'user') return join(environment.ouroHome, 'agent-memory', called);
  return join(cwd, '.claude', memory === 'project' ? 'agent-memory' : 'agent-memory-local', called);
}

async function notesWords(folder: string): Promise<string> {
  const file = join(folder, NOTES_FILE);
  const at = await ifThere(realpath(file));
  const real = (await ifThere(realpath(folder))) ?? folder;
  // A link out of the folder is none of its notes.
  const text = at === undefined || !isInside(at, real) ? undefined : await readRegular(at).catch(() => undefined);
  const lines = (text ?? '').slice(0, NOTES_BYTES).split('\n').slice(0, NOTES_LINES).join('\n').trim();
  return `# Your notes\n\nYou keep notes for your later runs as Markdown files in ${folder}; ${NOTES_FILE} there is shown to you each time (its first ${NOTES_LINES} lines), so keep it short and let it name the others. Note what would have saved you time: conventions, places, decisions, mistakes.\n\n${lines === '' ? `${NOTES_FILE} is empty so far.` : `${NOTES_FILE} reads:\n\n${lines}`}`;
}

/** What its gate knows besides the rules of everybody: the mode of its kind, its place, the parts of tools it must not use. */
export function agentBounds(core: Core, kind: AgentKind, { rules, stand }: AgentPlace): GateBounds {
  const said = (texts: readonly string[], behavior: 'allow' | 'deny') =>
    rulesOfTexts(texts, behavior, { source: 'session', root: core.cwd });
  const parts = kind.disallowedTools.filter((name) => name.includes('('));
  const notes = notesFolder(core, kind);
  const open = notes === undefined ? [] : [`Read(/${literal(notes)}/**)`, `Edit(/${literal(notes)}/**)`];
  return {
    ...(kind.permissionMode === undefined ? {} : { mode: kind.permissionMode }),
    ...(stand.root === undefined ? {} : { root: stand.root }),
    ...(notes === undefined ? {} : { notes }),
    rules: () => [...rules, ...said(parts, 'deny'), ...said(open, 'allow')],
  };
}
