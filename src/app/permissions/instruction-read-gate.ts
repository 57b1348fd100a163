import type { Policy } from '../../contracts/permission.ts';
import type { LoadedSettings } from '../../contracts/settings.ts';
import type { ProjectFileAdmission } from '../../extensions/load-extensions.ts';
import { findRepositoryRoot } from '../../git/git-repository.ts';
import { resolveRealPath } from '../../lib/files/read-or-default.ts';
import { decide } from '../../permissions/decide.ts';
import { diskFs } from '../../permissions/permission-fs.ts';
import {
  createPermissionPolicySource,
  type PermissionPolicyInputs,
} from '../../permissions/permission-policy-source.ts';
import type { MemoryDeps } from '../../prompt/memory/load-memory.ts';
import { readTraits } from '../../tools/read/read.ts';
import { getToolFacts } from '../../tools/tool-traits.ts';
import type { Core } from '../core.ts';
import { listInstructionRoots } from '../read-settings.ts';
import type { FolderTrust } from '../trust/folder-trust.ts';
import type { SessionPermissions } from './session-permissions.ts';

type GateDeps = Pick<Core, 'acceptsExternalFile' | 'bus' | 'cwd' | 'environment' | 'live' | 'repository'>;

/**
 * Creates the test whether an instruction file may be given to the model: only if the Read tool could read it unasked.
 * Imports of the user's own files, and files accepted with the folder, may be outside of it. Warns once per file.
 */
export function createInstructionReadGate(deps: GateDeps, { getPolicy }: SessionPermissions): MemoryDeps['mayRead'] {
  const warned = new Set<string>();
  const { bus, cwd, environment, live, repository, acceptsExternalFile } = deps;
  const bounds = listInstructionRoots(cwd, repository.root, environment.home);

  return ({ path, realPath, scope, importedBy }) => {
    const isTrustedScope = scope === 'managed' || scope === 'user';
    const roots = isTrustedScope || acceptsExternalFile(realPath) ? ['/'] : bounds;
    const access = importedBy === undefined && path === realPath ? 'direct' : 'indirect';
    const currentPolicy = getPolicy(live.current().cwd, 'default');
    const problem = findRefusal({ path, realPath, access }, roots, currentPolicy);
    if (problem === undefined) return { ok: true };
    const via = importedBy === undefined ? '' : `, imported by ${importedBy},`;
    const isOnlyOutside = () => findRefusal({ path, realPath, access }, ['/'], currentPolicy) === undefined;
    const text = `Instruction file ${path}${via} is ignored: ${problem}${isOnlyOutside() ? ACCEPT_HINT : ''}`;
    if (!warned.has(text)) void bus.emit({ type: 'notice', level: 'warn', topic: 'instructions', text });
    warned.add(text);
    return { ok: false, problem };
  };
}

const ACCEPT_HINT = ' Accept it with "ouro trust", or with an allow rule for Read.';

type ExtensionGateDeps = Pick<PermissionPolicyInputs, 'options' | 'environment' | 'cwd'> & {
  readonly trust: FolderTrust;
};

/** Creates the same test for commands, skills, sub-agents and output styles, which are read before a session starts. */
export function createExtensionReadGate({ trust, ...deps }: ExtensionGateDeps) {
  const { cwd, environment } = deps;
  const bounds = listInstructionRoots(cwd, findRepositoryRoot(cwd), environment.home);
  return (getLoadedSettings: () => LoadedSettings) => {
    const { getPolicy } = createPermissionPolicySource({
      ...deps,
      trusted: trust.isTrusted,
      getLoadedSettings,
      getLive: () => ({ mode: 'default', grants: [], directories: [] }),
      canBypass: false,
    });
    return (path: string): ProjectFileAdmission => {
      const realPath = resolveRealPath(path);
      const roots = trust.acceptsOutside(realPath) ? ['/'] : bounds;
      const access = path === realPath ? 'direct' : 'indirect';
      const problem = findRefusal({ path, realPath, access }, roots, getPolicy(cwd));
      return problem === undefined ? { ok: true, realPath } : { ok: false, problem };
    };
  };
}

/** `indirect`: reached through a link or an import. */
type FileAccess = { readonly path: string; readonly realPath: string; readonly access: 'direct' | 'indirect' };

/** Returns why Read could not read a file unasked if `roots` were workspace folders. Expects the default mode. */
function findRefusal(
  { path, realPath, access }: FileAccess,
  roots: readonly string[],
  policy: Policy,
): string | undefined {
  const widened: Policy = {
    ...policy,
    // A rule against the whole Read tool is not about the project's instruction files.
    rules: policy.rules.filter((rule) => access === 'indirect' || rule.specifier !== undefined),
    workspaceRoots: [...policy.workspaceRoots, ...roots],
  };
  return [path, realPath]
    .map((file) => decide(getToolFacts(readTraits.name, { file_path: file }, policy.cwd), widened, diskFs))
    .find(({ verdict }) => verdict !== 'allow')
    ?.reasons.join(' ');
}
