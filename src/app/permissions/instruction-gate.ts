import type { Policy } from '../../contracts/permission.ts';
import type { LoadedSettings } from '../../contracts/settings.ts';
import type { Admission } from '../../extensions/load-extensions.ts';
import { repositoryRoot } from '../../git/repository-root.ts';
import { decide } from '../../permissions/decide.ts';
import { diskFs } from '../../permissions/paths/fs.ts';
import type { MemoryParts } from '../../prompt/memory/memory-walk.ts';
import { readStatement } from '../../tools/read/read.ts';
import type { Core } from '../core.ts';
import type { FolderTrust } from '../settings/folder-trust.ts';
import { realPathOf } from '../settings/outside-instructions.ts';
import { instructionBounds } from '../settings/project-folders.ts';
import type { Permissions } from './permissions.ts';
import { makePolicy, type PolicySources } from './policy.ts';
import { factsOf } from './tool-facts.ts';

type Around = Pick<Core, 'acceptsOutside' | 'bus' | 'cwd' | 'environment' | 'live' | 'repository'>;

/**
 * Whether a file of instructions may be given to the model: what the Read tool could not read unasked may not. What a
 * person's own files import, and what was accepted with the folder, may lie outside of it. Told once, file by file.
 */
export function instructionGate(around: Around, { policy }: Pick<Permissions, 'policy'>): MemoryParts['mayRead'] {
  const told = new Set<string>();
  const { bus, cwd, environment, live, repository, acceptsOutside } = around;
  const bounds = instructionBounds(cwd, repository.root, environment.home);

  return ({ path, realPath, scope, importedBy }) => {
    const isOwn = scope === 'managed' || scope === 'user';
    const roots = isOwn || acceptsOutside(realPath) ? ['/'] : bounds;
    const way = importedBy === undefined && path === realPath ? 'direct' : 'led';
    const known = policy(live.now().cwd, 'default');
    const why = refusal({ path, realPath, way }, roots, known);
    if (why === undefined) return { ok: true };
    const via = importedBy === undefined ? '' : `, imported by ${importedBy},`;
    const isOnlyOutside = () => refusal({ path, realPath, way }, ['/'], known) === undefined;
    const text = `${path}${via} is left out of the instructions: ${why}${isOnlyOutside() ? ACCEPT : ''}`;
    if (!told.has(text)) void bus.tell({ type: 'notice', level: 'warn', topic: 'instructions', text });
    told.add(text);
    return { ok: false, why };
  };
}

const ACCEPT = ' Accept it with "ouro trust", or with an allow rule for Read.';

type Opening = Pick<PolicySources, 'options' | 'environment' | 'cwd'> & {
  readonly trust: Pick<FolderTrust, 'trusted' | 'acceptsOutside'>;
};

/** The same for commands, skills, sub-agents and styles of the project, which are read before anything is granted. */
export function extensionGate({ trust, ...opening }: Opening) {
  const { cwd, environment } = opening;
  const bounds = instructionBounds(cwd, repositoryRoot(cwd), environment.home);
  return (loaded: () => LoadedSettings) => {
    const { policy } = makePolicy({
      ...opening,
      trusted: trust.trusted,
      loaded,
      live: () => ({ mode: 'default', grants: [], directories: [] }),
      mayBypass: false,
    });
    return (path: string): Admission => {
      const realPath = realPathOf(path);
      const roots = trust.acceptsOutside(realPath) ? ['/'] : bounds;
      const why = refusal({ path, realPath, way: path === realPath ? 'direct' : 'led' }, roots, policy(cwd));
      return why === undefined ? { ok: true, realPath } : { ok: false, why };
    };
  };
}

type Asked = { readonly path: string; readonly realPath: string; readonly way: 'direct' | 'led' };

/** Why Read would not read this unasked, were these folders the workspace too. In mode default: none loosens it. */
function refusal({ path, realPath, way }: Asked, roots: readonly string[], policy: Policy): string | undefined {
  const judge: Policy = {
    ...policy,
    // Who takes the tool away from the model says nothing of the project's own instructions.
    rules: policy.rules.filter((rule) => way === 'led' || rule.specifier !== undefined),
    workspaceRoots: [...policy.workspaceRoots, ...roots],
  };
  return [path, realPath]
    .map((file) => decide(factsOf(readStatement.name, { file_path: file }, policy.cwd), judge, diskFs))
    .find(({ verdict }) => verdict !== 'allow')
    ?.reasons.join(' ');
}
