import { delimiter, join } from 'node:path';
import type { Environment } from '../contracts/environment.ts';
import type { CliRunOptions } from '../contracts/frontend/cli-run-options.ts';
import type { PermissionMode, Policy, Rule, RuleBehavior, SandboxPolicy } from '../contracts/permission.ts';
import type { LiveSessionValues } from '../contracts/session-core.ts';
import type { LoadedSettings } from '../contracts/settings.ts';
import { DAMAGED_FILES_FOLDER } from '../lib/files/json-store.ts';
import { expandHomePath } from '../lib/files/path-style.ts';
import { memoizeByObject } from '../lib/memoize.ts';
import { buildChildVariables } from '../settings/effective-environment.ts';
import { collectSettingsRules, parseRuleTexts } from './rules/parse-rule.ts';

/** The sources of the rules and workspace folders in a folder. */
export type PermissionPolicyInputs = {
  readonly options: Pick<CliRunOptions, 'allowedTools' | 'disallowedTools' | 'addDirs'>;
  readonly environment: Environment;
  /** Real path of the folder ouro was started in. */
  readonly cwd: string;
  readonly trusted: boolean;
  /** True if bypass mode is allowed. */
  readonly canBypass: boolean;
  readonly getLoadedSettings: () => LoadedSettings;
  readonly getLive: () => Pick<LiveSessionValues, 'mode' | 'grants' | 'directories'>;
};

/** The sources that only a session has. */
export type SessionPolicyInputs = {
  /** Folder of the session; large tool results stored there may be read. */
  readonly folder?: string;
  /** Applies updates since the start to the rules of files. */
  readonly updateRules?: (rules: readonly Rule[]) => readonly Rule[];
  /** Returns the files that calls of the session have created or filled, and the approved programs of the project. */
  readonly getFacts?: () => Pick<Policy, 'taintedPaths' | 'isCreatedHere' | 'frozenPaths'>;
  readonly getSandboxPolicy?: () => SandboxPolicy;
};

/** The current rules, workspace folders and policy of a session. */
export type PermissionPolicySource = {
  getRules(): readonly Rule[];
  /** Returns the workspace folder and all additional ones. */
  getRoots(): readonly string[];
  /** Returns the policy of commands in a folder. */
  getPolicy(cwd: string, mode?: PermissionMode): Policy;
  /** Returns the policy without its sandboxes, which are planned from it. */
  getUnsandboxedPolicy(cwd: string, mode?: PermissionMode): Policy;
};

/** Files in the ouro home that hold keys and logins. */
const KEY_FILES = ['keys.json', 'auth', 'mcp-logins.json', DAMAGED_FILES_FOLDER];

/** Creates the policy of flags, session and settings; computed for each call, so that changed files count at once. */
export function createPermissionPolicySource(
  { options, environment, cwd, trusted, canBypass, getLoadedSettings, getLive }: PermissionPolicyInputs,
  { folder, updateRules = (rules) => rules, getFacts, getSandboxPolicy }: SessionPolicyInputs = {},
): PermissionPolicySource {
  const { home, ouroHome } = environment;
  const parseRules = (texts: readonly string[], behavior: RuleBehavior, source: 'flag' | 'session') =>
    parseRuleTexts(texts, behavior, { source, root: cwd });
  const flagRules = [
    ...parseRules(options.disallowedTools ?? [], 'deny', 'flag'),
    ...parseRules(options.allowedTools ?? [], 'allow', 'flag'),
  ];
  const folderRules = parseRules(
    folder === undefined ? [] : [`Read(/${escapeRulePath(folder)}/**)`],
    'allow',
    'session',
  );
  const collectFileRules = memoizeByObject((loaded: LoadedSettings) => collectSettingsRules(loaded, { cwd, home }));
  const parseGrants = memoizeByObject((grants: LiveSessionValues['grants']) =>
    grants.flatMap(({ rule, behavior }) => parseRules([rule], behavior, 'session')),
  );
  /** Returns the entries of PATH as commands get it; an empty entry is the working directory. */
  const listSearchPath = memoizeByObject(({ merged }: LoadedSettings): readonly string[] =>
    (buildChildVariables(environment, merged).PATH ?? '').split(delimiter),
  );

  function getRules(): readonly Rule[] {
    const granted = parseGrants(getLive().grants);
    return [...flagRules, ...granted, ...updateRules(collectFileRules(getLoadedSettings())), ...folderRules];
  }

  function getRoots(): readonly string[] {
    const configured = getLoadedSettings().merged.permissions?.additionalDirectories ?? [];
    const folders = [...options.addDirs, ...configured, ...getLive().directories];
    return [cwd, ...new Set(folders.map((added) => expandHomePath(added, home, cwd)))];
  }

  function getUnsandboxedPolicy(at: string, mode: PermissionMode = getLive().mode): Policy {
    return {
      mode,
      rules: getRules(),
      workspaceRoots: getRoots(),
      cwd: at,
      home,
      trusted,
      canBypass,
      protectedPaths: [ouroHome, environment.runtimeCache],
      sensitivePaths: KEY_FILES.map((name) => join(ouroHome, name)),
      ...getFacts?.(),
      searchPath: listSearchPath(getLoadedSettings()),
      disk: process.platform === 'darwin' || process.platform === 'win32' ? 'case-insensitive' : 'case-sensitive',
    };
  }

  return {
    getRules,
    getRoots,
    getUnsandboxedPolicy,
    getPolicy: (at, mode) => ({ ...getUnsandboxedPolicy(at, mode), ...getSandboxPolicy?.() }),
  };
}

/** Escapes the wildcards of a path for a rule. */
export function escapeRulePath(path: string): string {
  return path.replace(/[\\*?[\]!]/g, '\\$&');
}
