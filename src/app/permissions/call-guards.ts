import type { Policy } from '../../contracts/permission.ts';
import { ToolFailure } from '../../contracts/tool.ts';
import { hardenedGitEnvironment } from '../../git/harden-git.ts';
import type { GateRecord } from '../../permissions/gate.ts';
import { diskFs } from '../../permissions/paths/fs.ts';
import { resolvePath } from '../../permissions/paths/paths.ts';
import { realTarget } from '../../tools/file-change.ts';
import { factsOf } from './tool-facts.ts';

/** What a decision still has to say when the call runs: where it may write, and what git must not start. */
export type CallGuards = {
  record(entry: GateRecord): void;
  shellVariables(callId: string): Readonly<Record<string, string | undefined>>;
  confirmTarget(path: string): Promise<void>;
};

export function createCallGuards(
  variables: () => Readonly<Record<string, string>>,
  policy: (cwd: string) => Policy,
): CallGuards {
  const hardened = new Set<string>();
  const targets = new Set<string>();
  return {
    record({ request, input, verdict, decision }) {
      if (verdict === 'deny') return;
      if (decision.hardensGit) hardened.add(request.callId);
      const base = { cwd: request.cwd, home: policy(request.cwd).home };
      for (const path of factsOf(request.tool, input, request.cwd).writes ?? []) {
        targets.add(resolvePath(diskFs, base, path).real);
      }
    },
    shellVariables(callId) {
      if (!hardened.delete(callId)) return {};
      const foreign = Object.keys(variables()).filter((name) => name.startsWith('GIT_'));
      return { ...Object.fromEntries(foreign.map((name) => [name, undefined])), ...hardenedGitEnvironment() };
    },
    async confirmTarget(path) {
      const real = await realTarget(path);
      if (targets.has(real)) return;
      throw new ToolFailure(
        `${path} leads to ${real} now, which is not the file this call was allowed to change. Nothing was written. Look at the path again.`,
      );
    },
  };
}
