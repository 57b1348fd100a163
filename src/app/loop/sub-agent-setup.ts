import { realpath } from 'node:fs/promises';
import { join } from 'node:path';
import type { Skill, SubAgentDefinition } from '../../contracts/extension.ts';
import type { Rule } from '../../contracts/permission.ts';
import { findSkill } from '../../extensions/load-skills.ts';
import { findRepositoryRoot } from '../../git/git-repository.ts';
import type { HookDispatcher } from '../../hooks/create-hooks.ts';
import { getErrorMessage, ignoreMissingFile } from '../../lib/errors.ts';
import { readRegularFile } from '../../lib/files/read-regular-file.ts';
import { omitUndefined } from '../../lib/json.ts';
import { escapeRulePath } from '../../permissions/permission-policy-source.ts';
import { isPathInside } from '../../permissions/resolve-path.ts';
import { parseRuleTexts } from '../../permissions/rules/parse-rule.ts';
import type { SubAgentWorkingDir } from '../../tools/task/sub-agent-call-registry.ts';
import type { Core } from '../core.ts';
import type { PermissionGateOverrides } from '../permissions/query-permission-gate.ts';
import { enterWorktree, type SessionWorktree } from '../session/worktree.ts';

/** The workspace of a sub-agent: that of its parent, or a git worktree. */
export type SubAgentWorkspace = {
  readonly location: SubAgentWorkingDir;
  /** Additional rules for its gate: they deny edits in the parent's checkout. */
  readonly rules: readonly Rule[];
  /** Text about the workspace for its system prompt, which otherwise describes the parent's folder. */
  readonly promptText: string | undefined;
  /** Leaves the workspace. Returns a note about remaining work for the report. */
  leave(): Promise<string | undefined>;
};

/** The owner of a workspace. A resumed sub-agent gets the worktree of the same name. */
type WorkspaceRequest = {
  readonly name: string;
  readonly agentId: string;
  readonly isolation: SubAgentDefinition['isolation'] | undefined;
};

/** Opens the workspace of a sub-agent. Throws when its worktree cannot be made, instead of sharing. */
export async function openSubAgentWorkspace(
  core: Core,
  { name, agentId, isolation }: WorkspaceRequest,
  parent: SubAgentWorkingDir,
  hooks: HookDispatcher,
): Promise<SubAgentWorkspace> {
  if (isolation !== 'worktree') return createSharedWorkspace(parent);
  const worktreeName = `${name.replace(/[^\w.-]+/g, '-').replace(/^[.-]+/, '')}-${agentId.replace(/^agent_/, '')}`;
  const worktree = hooks.has('WorktreeCreate')
    ? await makeWorktreeByHook(worktreeName, hooks)
    : await enterWorktree(parent.cwd, worktreeName, core.environment, core.trusted ? 'this-run' : undefined);
  const { path, branch, cwd } = worktree;
  const root = findRepositoryRoot(parent.cwd);
  const { live } = core;
  live.update({ directories: [...live.current().directories, path] });
  return {
    location: { cwd, root: path },
    rules: parseRuleTexts([`Edit(/${escapeRulePath(root)}/**)`], 'deny', { source: 'session', root }),
    promptText: `You work in a git worktree of your own: ${path}, on branch ${branch}. Everything above about the working directory is about another checkout of the same repository, ${root}, which you must not change. The files of your task have the same paths below ${path}; what was not committed in the other checkout is not here.`,
    async leave() {
      const note = await leaveWorktree(worktree);
      if (note === undefined)
        live.update({ directories: live.current().directories.filter((folder) => folder !== path) });
      return note;
    },
  };
}

type OpenWorktree = Pick<SessionWorktree, 'path' | 'branch' | 'cwd' | 'leave'>;

const HOOK_TIMEOUT_MS = 120_000;

/** Has a hook make the worktree, for folders that are not a git repository or need more than a checkout. */
async function makeWorktreeByHook(name: string, hooks: HookDispatcher): Promise<OpenWorktree> {
  const verdict = await hooks.fire('WorktreeCreate', { name }, AbortSignal.timeout(HOOK_TIMEOUT_MS));
  const path = verdict.worktreePath === undefined ? undefined : await ignoreMissingFile(realpath(verdict.worktreePath));
  if (path === undefined) throw new Error(verdict.blocked ?? 'The WorktreeCreate hook named no existing folder.');
  return {
    path,
    cwd: path,
    branch: name,
    async leave() {
      if (!hooks.has('WorktreeRemove')) return { kind: 'kept', what: 'The work' };
      const { blocked } = await hooks.fire(
        'WorktreeRemove',
        { worktree_path: path },
        AbortSignal.timeout(HOOK_TIMEOUT_MS),
      );
      return blocked === undefined ? { kind: 'gone' } : { kind: 'kept', what: 'The work' };
    },
  };
}

function createSharedWorkspace(location: SubAgentWorkingDir): SubAgentWorkspace {
  return { location, rules: [], promptText: undefined, leave: async () => undefined };
}

async function leaveWorktree({ leave, path, branch }: OpenWorktree): Promise<string | undefined> {
  try {
    const end = await leave();
    return end.kind === 'gone'
      ? undefined
      : `${end.kind === 'kept' ? end.what : 'Its worktree'} is in ${path} on branch ${branch}.`;
  } catch (thrown) {
    return `Its worktree ${path} on branch ${branch} stays: ${getErrorMessage(thrown)}`;
  }
}

const NOTES_FILE = 'MEMORY.md';
const MAX_NOTES_LINES = 200;
const MAX_NOTES_CHARS = 25_000;

/** Builds the instructions of a sub-agent: its prompt, its preloaded skills and its notes. */
export async function buildSubAgentInstructions(core: Core, kind: SubAgentDefinition): Promise<string> {
  const { skills } = core.extensions.current();
  const preloaded = (kind.skills ?? []).flatMap((name) => findSkill(skills, name) ?? []);
  const notes = findNotesFolder(core, kind);
  const notesText = notes === undefined ? [] : [await describeNotes(notes)];
  return [kind.prompt, ...preloaded.map(formatSkill), ...notesText].join('\n\n');
}

function formatSkill({ name, folder, body }: Skill): string {
  return `# Skill ${name} (its files are in ${folder})\n\n${body.trim()}`;
}

/** Returns the notes folder of a sub-agent; none when it keeps no notes, or in an untrusted project. */
function findNotesFolder(
  { cwd, trusted, environment }: Core,
  { name, memory }: SubAgentDefinition,
): string | undefined {
  if (memory === undefined || (memory !== 'user' && !trusted)) return undefined;
  const folder = name.replace(/[^\w.-]+/g, '-').replace(/^\.+/, '');
  if (memory === 'user') return join(environment.ouroHome, 'agent-memory', folder);
  return join(cwd, '.claude', memory === 'project' ? 'agent-memory' : 'agent-memory-local', folder);
}

async function describeNotes(folder: string): Promise<string> {
  const file = join(folder, NOTES_FILE);
  const realFile = await ignoreMissingFile(realpath(file));
  const realFolder = (await ignoreMissingFile(realpath(folder))) ?? folder;
  // A link that leads out of the folder is not read.
  const isReadable = realFile !== undefined && isPathInside(realFile, realFolder);
  const text = isReadable ? await readRegularFile(realFile).catch(() => undefined) : undefined;
  const lines = (text ?? '').slice(0, MAX_NOTES_CHARS).split('\n').slice(0, MAX_NOTES_LINES).join('\n').trim();
  return `# Your notes\n\nYou keep notes for your later runs as Markdown files in ${folder}; ${NOTES_FILE} there is shown to you each time (its first ${MAX_NOTES_LINES} lines), so keep it short and let it name the others. Note what would have saved you time: conventions, places, decisions, mistakes.\n\n${lines === '' ? `${NOTES_FILE} is empty so far.` : `${NOTES_FILE} reads:\n\n${lines}`}`;
}

/** Returns the permission bounds of a sub-agent: its mode, its workspace, its notes folder and its denied tool uses. */
export function createSubAgentGateBounds(
  core: Core,
  kind: SubAgentDefinition,
  { rules, location }: SubAgentWorkspace,
): PermissionGateOverrides {
  const parseRules = (texts: readonly string[], behavior: 'allow' | 'deny') =>
    parseRuleTexts(texts, behavior, { source: 'session', root: core.cwd });
  const deniedUses = kind.disallowedTools.filter((name) => name.includes('('));
  const notesFolder = findNotesFolder(core, kind);
  const noteRules =
    notesFolder === undefined
      ? []
      : [`Read(/${escapeRulePath(notesFolder)}/**)`, `Edit(/${escapeRulePath(notesFolder)}/**)`];
  return {
    ...omitUndefined({ mode: kind.permissionMode, firstRoot: location.root, notesFolder }),
    getRules: () => [...rules, ...parseRules(deniedUses, 'deny'), ...parseRules(noteRules, 'allow')],
  };
}
