import { delimiter, join } from 'node:path';
import type { Environment } from '../contracts/environment.ts';
import type { CliRunOptions } from '../contracts/frontend/cli-run-options.ts';
import type { PermissionMode, Policy, Rule } from '../contracts/permission.ts';
import type { LiveSessionValues } from '../contracts/session-core.ts';
import type { LoadedSettings } from '../contracts/settings.ts';
import { DAMAGED_FILES_FOLDER } from '../lib/files/json-store.ts';
import { expandHomePath } from '../lib/files/path-style.ts';
import { omitUndefined } from '../lib/json.ts';
import { memoizeByObject } from '../lib/memoize.ts';
import { buildChildVariables } from '../settings/effective-environment.ts';
import { collectSettingsRules, parseRuleTexts } from './rules/parse-rule.ts';

/** The sources of a session's rules and workspace folders. */
export type PermissionPolicyInputs = {
  readonly options: Pick<CliRunOptions, 'allowedTools' | 'disallowedTools' | 'addDirs'>;
  readonly environment: Environment;
  /** Real path of the folder ouro was started in. */
  readonly cwd: string;
  readonly trusted: boolean;
  readonly getLoadedSettings: () => LoadedSettings;
  readonly getLive: () => Pick<LiveSessionValues, 'mode' | 'grants' | 'directories'>;
  /** True if bypass mode is allowed. */
  readonly canBypass: boolean;
  /** Applies updates since the start to the rules of files. */
  readonly updateRules?: (rules: readonly Rule[]) => readonly Rule[];
  /** Returns whether sandboxed commands need approval; undefined without a sandbox. */
  readonly getSandboxApproval?: () => Policy['sandbox'];
  readonly getSandboxPaths?: Policy['sandboxPaths'];
  readonly privateFolder?: Policy['privateFolder'];
  /** Returns whether commands that only read can be run in a read-only sandbox. */
  readonly canEnforceReadOnly?: () => boolean;
  /** Returns the files that commands of this session filled from secret files. */
  readonly listTaintedFiles?: () => readonly string[];
  /** Returns whether a call of this session created the file or folder. */
  readonly isCreatedHere?: (path: string) => boolean;
  /** Returns the approved programs of the project. */
  readonly listFrozenFiles?: () => readonly string[];
  /** Folder of the session; large tool results stored there may be read. */
  readonly sessionFolder?: string;
};

/** Returns the current rules, workspace folders and policy of a session. */
export type PermissionPolicySource = ReturnType<typeof createPermissionPolicySource>;

/** Files in the ouro home that hold keys and logins. */
const KEY_FILES = ['keys.json', 'auth', 'mcp-logins.json', DAMAGED_FILES_FOLDER];

/** Creates the policy of flags, session and settings; computed for each call, so that changed files count at once. */
export function createPermissionPolicySource(sources: PermissionPolicyInputs) {
  const { options, environment, cwd } = sources;
  const { home, ouroHome } = environment;
  const flags = [
    ...parseRuleTexts(options.disallowedTools ?? [], 'deny', { source: 'flag', root: cwd }),
    ...parseRuleTexts(options.allowedTools ?? [], 'allow', { source: 'flag', root: cwd }),
  ];
  const { sessionFolder } = sources;
  const sessionFolderRules =
    sessionFolder === undefined
      ? []
      : parseRuleTexts([`Read(/${escapeRulePath(sessionFolder)}/**)`], 'allow', { source: 'session', root: cwd });

  const collectFileRules = memoizeByObject((loaded: LoadedSettings) => collectSettingsRules(loaded, { cwd, home }));

  const parseGrants = memoizeByObject((grants: LiveSessionValues['grants']) =>
    grants.flatMap(({ rule, behavior }) => parseRuleTexts([rule], behavior, { source: 'session', root: cwd })),
  );

  function getRules(): readonly Rule[] {
    const granted = parseGrants(sources.getLive().grants);
    const fileRules = collectFileRules(sources.getLoadedSettings());
    return [...flags, ...granted, ...(sources.updateRules?.(fileRules) ?? fileRules), ...sessionFolderRules];
  }

  /** Returns the workspace folder and all additional ones. */
  function getRoots(): readonly string[] {
    const configured = sources.getLoadedSettings().merged.permissions?.additionalDirectories ?? [];
    const folders = [...options.addDirs, ...configured, ...sources.getLive().directories];
    return [cwd, ...new Set(folders.map((folder) => expandHomePath(folder, home, cwd)))];
  }

  /** Returns the entries of PATH as commands get it; an empty entry is the working directory. */
  const listSearchPath = memoizeByObject(({ merged }: LoadedSettings): readonly string[] =>
    (buildChildVariables(environment, merged).PATH ?? '').split(delimiter),
  );

  function getSandboxFields(): Pick<Policy, 'sandbox' | 'sandboxPaths' | 'privateFolder' | 'canEnforceReadOnly'> {
    const { canEnforceReadOnly, getSandboxPaths, privateFolder } = sources;
    const sandbox = sources.getSandboxApproval?.();
    return {
      ...omitUndefined({ canEnforceReadOnly, sandbox }),
      ...(sandbox === undefined || getSandboxPaths === undefined
        ? {}
        : { sandboxPaths: getSandboxPaths, privateFolder }),
    };
  }

  /** Returns the policy without sandbox fields, from which the sandbox itself is planned. */
  function createPolicy(at: string, mode?: PermissionMode): Policy {
    return {
      mode: mode ?? sources.getLive().mode,
      rules: getRules(),
      workspaceRoots: getRoots(),
      cwd: at,
      home,
      trusted: sources.trusted,
      canBypass: sources.canBypass,
      protectedPaths: [ouroHome, environment.runtimeCache],
      sensitivePaths: KEY_FILES.map((name) => join(ouroHome, name)),
      taintedPaths: sources.listTaintedFiles?.() ?? [],
      isCreatedHere: sources.isCreatedHere ?? (() => false),
      frozenPaths: sources.listFrozenFiles?.() ?? [],
      searchPath: listSearchPath(sources.getLoadedSettings()),
      disk: process.platform === 'darwin' || process.platform === 'win32' ? 'case-insensitive' : 'case-sensitive',
    };
  }

  return {
    getRules,
    getRoots,
    getUnsandboxedPolicy: createPolicy,
    getPolicy: (at: string, mode?: PermissionMode): Policy => ({ ...createPolicy(at, mode), ...getSandboxFields() }),
  };
}

/** Escapes the wildcards of a path for a rule. */
export function escapeRulePath(path: string): string {
  return path.replace(/[\\*?[\]!]/g, '\\$&');
}
