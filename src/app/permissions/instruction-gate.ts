import { decide } from '../../permissions/decide.ts';
import { diskFs } from '../../permissions/paths/fs.ts';
import type { AskedFile, MemoryParts } from '../../prompt/memory/memory-walk.ts';
import { readStatement } from '../../tools/read/read.ts';
import type { Core } from '../core.ts';
import { instructionBounds } from '../settings/outside-instructions.ts';
import type { Permissions } from './permissions.ts';
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

  /** In mode default: no mode that asks less makes a folder's files read more. */
  function judged({ path, realPath, scope, importedBy }: AskedFile) {
    const at = live.now().cwd;
    const known = policy(at, 'default');
    const mayLeaveBounds = scope === 'managed' || scope === 'user' || acceptsOutside(realPath);
    const isPlain = importedBy === undefined && path === realPath;
    const judge = {
      ...known,
      // Who takes the tool away from the model says nothing of the project's own instructions.
      rules: known.rules.filter((rule) => !isPlain || rule.specifier !== undefined),
      workspaceRoots: [...known.workspaceRoots, ...bounds, ...(mayLeaveBounds ? ['/'] : [])],
    };
    return [path, realPath].map((file) => decide(factsOf(readStatement.name, { file_path: file }, at), judge, diskFs));
  }

  return (file) => {
    const refused = judged(file).find(({ verdict }) => verdict !== 'allow');
    if (refused === undefined) return { ok: true };
    const why = refused.reasons.join(' ');
    const via = file.importedBy === undefined ? '' : `, imported by ${file.importedBy},`;
    const text = `${file.path}${via} is left out of the instructions: ${why}`;
    if (!told.has(text)) void bus.tell({ type: 'notice', level: 'warn', topic: 'instructions', text });
    told.add(text);
    return { ok: false, why };
  };
}
