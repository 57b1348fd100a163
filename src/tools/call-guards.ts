import { lstatSync } from 'node:fs';
import { delimiter } from 'node:path';
import { dirname } from 'node:path/posix';
import type { CommandHardening, Policy } from '../contracts/permission.ts';
import { ToolFailure } from '../contracts/tool.ts';
import { createHardenedGitEnv } from '../git/run-git.ts';
import { toNativePath } from '../lib/files/path-style.ts';
import { resolveRealTarget } from '../lib/files/real-path.ts';
import type { PermissionFs } from '../permissions/permission-fs.ts';
import type { GateDecisionRecord } from '../permissions/permission-gate.ts';
import { resolvePath, splitPathByWorkspace } from '../permissions/resolve-path.ts';
import { createSearchShellFunctions } from '../permissions/shell/search-requirements.ts';
import { getToolFacts } from './tool-traits.ts';

type CallHardening = { readonly hardens: readonly CommandHardening[]; readonly cwd: string };

/** The parts of decisions that are enforced while calls run: write targets, hardening and sandbox exceptions. */
export type CallGuards = ReturnType<typeof createCallGuards>;

/** The variables of commands, and those that do not come from the project. */
export type CommandVariables = {
  readonly all: Readonly<Record<string, string>>;
  readonly own: Readonly<Record<string, string>>;
};

/** Creates the guards of the calls of a conversation. */
/** Creates the guards of a session that began at `startedAt`. */
export function createCallGuards(
  variables: () => CommandVariables,
  policy: (cwd: string) => Policy,
  fs: PermissionFs,
  startedAt = Date.now(),
) {
  const hardened = new Map<string, CallHardening>();
  const opened = new Map<string, readonly string[]>();
  const targets = new Set<string>();
  const copies = new Set<string>();
  const written = new Set<string>();
  const created = new Set<string>();
  const isMissing = (path: string) => {
    try {
      return fs.lstat(path) === undefined;
    } catch {
      // It is there, behind a folder that cannot be searched.
      return false;
    }
  };
  /** Adds a path that is missing before its call runs, and the folders that are missing above it. */
  const addCreated = (path: string) => {
    if (!isMissing(path)) return;
    created.add(path);
    addCreated(dirname(path));
  };
  return {
    /** Records a decision before its call runs. */
    record({ request, input, verdict, decision }: GateDecisionRecord) {
      if (verdict === 'deny') return;
      for (const path of decision.writes ?? []) written.add(toNativePath(path));
      // A path that was deleted and comes back may be another file.
      for (const path of created) if (isMissing(path)) created.delete(path);
      for (const path of decision.creates ?? []) addCreated(path);
      for (const copy of decision.copies ?? []) copies.add(toNativePath(copy));
      if (decision.opens !== undefined) opened.set(request.callId, decision.opens);
      if (decision.hardens.length > 0) hardened.set(request.callId, { hardens: decision.hardens, cwd: request.cwd });
      const base = { cwd: request.cwd, home: policy(request.cwd).home };
      const { writes = [] } = getToolFacts(request.tool, input, request.cwd);
      // The paths that were decided about, not what they lead to by now.
      const decided = writes.length === 0 ? [] : decision.writes;
      for (const path of decided ?? writes.map((write) => resolvePath(fs, base, write).real))
        targets.add(toNativePath(path));
    },
    /** Returns the files that commands of this session filled from secret files. */
    listTaintedFiles: (): readonly string[] => [...copies],
    /** Returns the files that calls of this session were allowed to write, as far as known. */
    listWrittenFiles: (): readonly string[] => [...written],
    /**
     * Returns whether the path was missing before a call of this session was allowed to write it, and the file is not an
     * older one that a command moved there.
     */
    isCreatedHere: (path: string): boolean => created.has(path) && !isOlderThan(toNativePath(path), startedAt),
    /** Returns the paths that the sandbox makes writable for a call. Returned once per call. */
    takeOpenedPaths(callId: string): readonly string[] {
      const paths = opened.get(callId) ?? [];
      opened.delete(callId);
      return paths;
    },
    /**
     * Returns variables that harden the command of a call; undefined removes one. Returned once per call. `fromHooks`: the
     * variables that hooks of the session set.
     */
    takeShellVariables(
      callId: string,
      fromHooks: Readonly<Record<string, string>> = {},
    ): Readonly<Record<string, string | undefined>> {
      const call = hardened.get(callId);
      if (call === undefined) return {};
      hardened.delete(callId);
      const { all, own } = variables();
      const hasOwnOnly = call.hardens.includes('variables');
      const getPolicy = () => {
        const calledIn = policy(call.cwd);
        return hasOwnOnly ? { ...calledIn, searchPath: (own.PATH ?? '').split(delimiter) } : calledIn;
      };
      return {
        ...(hasOwnOnly ? restoreOwnVariables({ all: { ...all, ...fromHooks }, own }) : {}),
        ...(call.hardens.includes('helpers') ? createGitVariables(all) : {}),
        ...(call.hardens.includes('search') ? createSearchShellFunctions() : {}),
        ...(call.hardens.includes('path') ? createPathVariable(getPolicy(), fs) : {}),
      };
    },
    /** Throws if the real path about to be written is not one that a call was allowed to write. */
    async confirmTarget(path: string) {
      const real = await resolveRealTarget(path);
      if (targets.has(real)) return;
      throw new ToolFailure(
        `${path} leads to ${real} now, which is not the file this call was allowed to change. Nothing was written. Look at the path again.`,
      );
    },
  };
}

/** The clock of file systems lags behind by up to one tick of the kernel. */
const CLOCK_TICK_MS = 20;

/** True for a file that was created before this time; file systems without that time say 0. */
function isOlderThan(path: string, time: number): boolean {
  const { birthtimeMs = 0 } = lstatSync(path, { throwIfNoEntry: false }) ?? {};
  return birthtimeMs !== 0 && birthtimeMs < time - CLOCK_TICK_MS;
}

/** Removes the variables of the project, and restores those it replaced. */
function restoreOwnVariables({ all, own }: CommandVariables): Readonly<Record<string, string | undefined>> {
  const changed = Object.keys(all).filter((name) => all[name] !== own[name]);
  return Object.fromEntries(changed.map((name) => [name, own[name]]));
}

/** Removes all GIT_ variables and sets those that disable git helpers. */
function createGitVariables(variables: Readonly<Record<string, string>>): Readonly<Record<string, string | undefined>> {
  const inherited = Object.keys(variables).filter((name) => name.startsWith('GIT_'));
  return { ...Object.fromEntries(inherited.map((name) => [name, undefined])), ...createHardenedGitEnv() };
}

/** Returns a PATH without workspace folders, if the present one has any. */
function createPathVariable(policy: Policy, fs: PermissionFs): Readonly<Record<string, string>> {
  const { inside, outside } = splitPathByWorkspace(policy, fs, [policy.cwd]);
  return inside.length === 0 ? {} : { PATH: outside.length === 0 ? '/usr/bin:/bin' : outside.join(delimiter) };
}
