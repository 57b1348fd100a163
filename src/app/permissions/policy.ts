import { delimiter, isAbsolute, join, resolve } from 'node:path';
import type { Environment } from '../../contracts/environment.ts';
import type { RunOptions } from '../../contracts/face/run-options.ts';
import type { Live } from '../../contracts/live.ts';
import type { PermissionMode, Policy, Rule } from '../../contracts/permission.ts';
import type { LoadedSettings } from '../../contracts/settings.ts';
import { SET_ASIDE } from '../../lib/files/json-store.ts';
import { rulesOfSettings, rulesOfTexts } from '../../permissions/rules/collect-rules.ts';
import { childVariables } from '../../settings/child-variables.ts';

/** Everything the rules of a conversation come from. */
export type PolicySources = {
  readonly options: Pick<RunOptions, 'allowedTools' | 'disallowedTools' | 'addDirs'>;
  readonly environment: Environment;
  /** The workspace: the real path ouro was started in. */
  readonly cwd: string;
  readonly trusted: boolean;
  readonly loaded: () => LoadedSettings;
  readonly live: () => Pick<Live, 'mode' | 'grants' | 'directories'>;
  /** May asking be switched off? */
  readonly mayBypass: boolean;
  /** The rules of files with what was changed in them since the start. */
  readonly current?: (rules: readonly Rule[]) => readonly Rule[];
  /** Where commands run, and whether what stays there is asked about. */
  readonly sandbox?: () => Policy['sandbox'];
  readonly sandboxPlaces?: Policy['sandboxPlaces'];
  /** What commands of the session filled from files of secrets. */
  readonly copiedSecrets?: () => readonly string[];
  /** The session's own folder: large results that were put aside there may be read back. */
  readonly sessionFolder?: string;
};

export type PolicySource = {
  rules(): readonly Rule[];
  /** The workspace and every folder beside it. */
  roots(): readonly string[];
  policy(cwd: string, mode?: PermissionMode): Policy;
  /** The same without what a box makes of it, for what the box itself is made from. */
  withoutBox(cwd: string, mode?: PermissionMode): Policy;
};

/** Files of ours that hold keys and logins. */
const SECRETS = ['keys.json', 'auth', 'mcp-logins.json', SET_ASIDE];

/** Unites flags, session and settings into one policy, anew at each call so that a changed file counts at once. */
export function makePolicy(sources: PolicySources): PolicySource {
  const { options, environment, cwd } = sources;
  const { home, ouroHome } = environment;
  const flags = [
    ...rulesOfTexts(options.disallowedTools ?? [], 'deny', { source: 'flag', root: cwd }),
    ...rulesOfTexts(options.allowedTools ?? [], 'allow', { source: 'flag', root: cwd }),
  ];
  const put = sources.sessionFolder;
  const putAside =
    put === undefined ? [] : rulesOfTexts([`Read(/${literal(put)}/**)`], 'allow', { source: 'session', root: cwd });

  function rules(): readonly Rule[] {
    const granted = sources
      .live()
      .grants.flatMap(({ rule, behavior }) => rulesOfTexts([rule], behavior, { source: 'session', root: cwd }));
    const written = rulesOfSettings(sources.loaded(), { cwd, home });
    return [...flags, ...granted, ...(sources.current?.(written) ?? written), ...putAside];
  }

  function roots(): readonly string[] {
    const said = sources.loaded().merged.permissions?.additionalDirectories ?? [];
    const folders = [...options.addDirs, ...said, ...sources.live().directories];
    return [cwd, ...new Set(folders.map((folder) => placed(folder, cwd, home)))];
  }

  /** As a command finds its programs: an empty entry is the folder it runs in. */
  function searchPath(): readonly string[] {
    return (childVariables(environment, sources.loaded().merged).PATH ?? '').split(delimiter);
  }

  function inSandbox(): Pick<Policy, 'sandbox' | 'sandboxPlaces'> {
    const { sandboxPlaces } = sources;
    const sandbox = sources.sandbox?.();
    return sandbox === undefined ? {} : { sandbox, ...(sandboxPlaces === undefined ? {} : { sandboxPlaces }) };
  }

  function withoutBox(at: string, mode?: PermissionMode): Policy {
    return {
      mode: mode ?? sources.live().mode,
      rules: rules(),
      workspaceRoots: roots(),
      cwd: at,
      home,
      trusted: sources.trusted,
      canBypass: sources.mayBypass,
      protectedPaths: [ouroHome],
      sensitivePaths: SECRETS.map((name) => join(ouroHome, name)),
      copiedSecrets: sources.copiedSecrets?.() ?? [],
      searchPath: searchPath(),
      disk: process.platform === 'darwin' || process.platform === 'win32' ? 'case-insensitive' : 'case-sensitive',
    };
  }

  return { rules, roots, withoutBox, policy: (at, mode) => ({ ...withoutBox(at, mode), ...inSandbox() }) };
}

function placed(folder: string, cwd: string, home: string): string {
  if (folder === '~' || folder.startsWith('~/')) return join(home, folder.slice(1));
  return isAbsolute(folder) ? folder : resolve(cwd, folder);
}

/** A path that is to be taken letter by letter in a rule. */
export function literal(path: string): string {
  return path.replace(/[\\*?[\]!]/g, '\\$&');
}
