import { randomBytes } from 'node:crypto';
import { rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { isAbsolute, join, normalize } from 'node:path';
import { dirname as folderOf } from 'node:path/posix';
import { type FleetGit, gitOutput } from '../git/fleet-git.ts';

/** A patch on its way to a branch. */
export type PatchToCommit = {
  /** The folder of git's own: of the repository, or of our mirror of it. */
  readonly gitFolder: string;
  readonly commit: string;
  readonly patch: Uint8Array;
  readonly message: string;
  readonly branch: string;
};

export type Committed =
  | { readonly kind: 'made' | 'there already'; readonly branch: string }
  | { readonly kind: 'refused'; readonly why: string };

/**
 * Makes a branch of a patch without touching any working folder. What is in the patch was written by a model: it must
 * apply to its commit as it is, and nothing in it may lead out of the repository.
 */
export async function commitPatch(git: FleetGit, wish: PatchToCommit): Promise<Committed> {
  const mark = randomBytes(6).toString('hex');
  const index = join(tmpdir(), `ouro-index-${mark}`);
  const file = join(tmpdir(), `ouro-patch-${mark}`);
  const call = { cwd: wish.gitFolder, env: { GIT_DIR: wish.gitFolder, GIT_INDEX_FILE: index } };
  try {
    await writeFile(file, wish.patch, { mode: 0o600, flag: 'wx' });
    gitOutput(await git({ args: ['read-tree', wish.commit], ...call }), 'The commit could not be read');
    const applied = await git({ args: ['apply', '--cached', '--whitespace=nowarn', file], ...call });
    if (applied.code !== 0)
      return refused(`it does not apply: ${applied.stderr.toString('utf8').trim().split('\n')[0]}`);
    const outside = await leadsOut(git, call, wish.commit);
    if (outside !== undefined) return refused(outside);
    const tree = gitOutput(await git({ args: ['write-tree'], ...call }), 'The tree could not be written').trim();
    return await makeBranch(git, wish, tree);
  } finally {
    await Promise.all([rm(index, { force: true }), rm(file, { force: true })]);
  }
}

const refused = (why: string): Committed => ({ kind: 'refused', why });

type Call = { readonly cwd: string; readonly env: Readonly<Record<string, string>> };

/** Links to places outside, and repositories inside of the repository: nothing a reader of a diff would see. */
async function leadsOut(git: FleetGit, call: Call, commit: string): Promise<string | undefined> {
  const diff = ['diff-index', '--cached', '--no-renames', '-z', commit];
  const fields = gitOutput(await git({ args: diff, ...call }), 'The changes could not be listed').split('\0');
  for (let at = 0; at + 1 < fields.length; at += 2) {
    const [, mode = '', , blob = ''] = (fields[at] ?? '').split(' ');
    const path = fields[at + 1] ?? '';
    if (mode === '160000') return `${path} would be a repository of its own`;
    if (mode !== '120000') continue;
    const target = gitOutput(await git({ args: ['cat-file', 'blob', blob], ...call }), 'A link could not be read');
    const leads = normalize(join(folderOf(path), target));
    if (isAbsolute(target) || leads === '..' || leads.startsWith('../')) return `${path} is a link that leads out`;
  }
  return undefined;
}

const NOBODY = {
  GIT_AUTHOR_NAME: 'ouro',
  GIT_AUTHOR_EMAIL: 'ouro@localhost',
  GIT_COMMITTER_NAME: 'ouro',
  GIT_COMMITTER_EMAIL: 'ouro@localhost',
};

async function makeBranch(git: FleetGit, wish: PatchToCommit, tree: string): Promise<Committed> {
  const { gitFolder, branch, commit, message } = wish;
  const call = { cwd: gitFolder, env: { GIT_DIR: gitFolder } };
  const name = await git({ args: ['check-ref-format', '--branch', branch], ...call });
  if (name.code !== 0) return refused(`"${branch}" cannot be the name of a branch`);
  const there = await git({ args: ['rev-parse', '--verify', '--quiet', `refs/heads/${branch}^{tree}`], ...call });
  if (there.code === 0)
    return there.stdout.toString('utf8').trim() === tree
      ? { kind: 'there already', branch }
      : refused(`the branch ${branch} is there already and holds something else`);
  // The name and address of the person, when git knows them.
  const ident = await git({ args: ['var', 'GIT_COMMITTER_IDENT'], ...call, configuration: 'own' });
  const made = await git({
    args: ['commit-tree', tree, '-p', commit, '-F', '-'],
    cwd: gitFolder,
    env: { GIT_DIR: gitFolder, ...(ident.code === 0 ? {} : NOBODY) },
    input: message,
    configuration: 'own',
  });
  const id = gitOutput(made, 'No commit could be made').trim();
  const update = ['update-ref', `refs/heads/${branch}`, id, '0'.repeat(id.length)];
  gitOutput(await git({ args: update, ...call }), `The branch ${branch} could not be made`);
  return { kind: 'made', branch };
}
