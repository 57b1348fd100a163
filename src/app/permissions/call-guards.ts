import { delimiter } from 'node:path';
import type { Hardening, Policy } from '../../contracts/permission.ts';
import { ToolFailure } from '../../contracts/tool.ts';
import { hardenedGitEnvironment } from '../../git/harden-git.ts';
import { searchFunctions } from '../../permissions/bash/left-out.ts';
import type { GateRecord } from '../../permissions/gate-parts.ts';
import { diskFs } from '../../permissions/paths/fs.ts';
import { resolvePath } from '../../permissions/paths/paths.ts';
import { workspacePrograms } from '../../permissions/paths/search-path.ts';
import { realTarget } from '../../tools/file-change.ts';
import { factsOf } from './tool-facts.ts';

type CallHardening = { readonly hardens: readonly Hardening[]; readonly cwd: string };

/** What a decision still has to say when the call runs: where it may write, and what git must not start. */
export type CallGuards = {
  record(entry: GateRecord): void;
  shellVariables(callId: string): Readonly<Record<string, string | undefined>>;
  confirmTarget(path: string): Promise<void>;
  /** The places that this call may write in its box besides; asked once. */
  opened(callId: string): readonly string[];
  /** What commands of the session filled from files of secrets. */
  copies(): readonly string[];
  /** What calls of the session were allowed to write, as far as that was known. */
  written(): readonly string[];
};

export function createCallGuards(
  variables: () => Readonly<Record<string, string>>,
  policy: (cwd: string) => Policy,
): CallGuards {
  const hardened = new Map<string, CallHardening>();
  const opened = new Map<string, readonly string[]>();
  const targets = new Set<string>();
  const copies = new Set<string>();
  const written = new Set<string>();
  return {
    record({ request, input, verdict, decision }) {
      if (verdict === 'deny') return;
      for (const path of decision.writes ?? []) written.add(path);
      for (const copy of decision.copies ?? []) copies.add(copy);
      if (decision.opens !== undefined) opened.set(request.callId, decision.opens);
      if (decision.hardens.length > 0) hardened.set(request.callId, { hardens: decision.hardens, cwd: request.cwd });
      const base = { cwd: request.cwd, home: policy(request.cwd).home };
      for (const path of factsOf(request.tool, input, request.cwd).writes ?? []) {
        targets.add(resolvePath(diskFs, base, path).real);
      }
    },
    copies: () => [...copies],
    written: () => [...written],
    opened(callId) {
      const places = opened.get(callId) ?? [];
      opened.delete(callId);
      return places;
    },
    shellVariables(callId) {
      const call = hardened.get(callId);
      if (call === undefined) return {};
      hardened.delete(callId);
      return {
        ...(call.hardens.includes('helpers') ? gitVariables(variables()) : {}),
        ...(call.hardens.includes('search') ? searchFunctions() : {}),
        ...(call.hardens.includes('path') ? pathVariable(policy(call.cwd)) : {}),
      };
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

/** Of the variables of git only those that switch its helpers off. */
function gitVariables(variables: Readonly<Record<string, string>>): Readonly<Record<string, string | undefined>> {
  const foreign = Object.keys(variables).filter((name) => name.startsWith('GIT_'));
  return { ...Object.fromEntries(foreign.map((name) => [name, undefined])), ...hardenedGitEnvironment() };
}

/** A PATH that finds no program inside the workspace, where the present one could. */
function pathVariable(policy: Policy): Readonly<Record<string, string>> {
  const { inside, outside } = workspacePrograms(policy, diskFs, [policy.cwd]);
  return inside.length === 0 ? {} : { PATH: outside.length === 0 ? '/usr/bin:/bin' : outside.join(delimiter) };
}
