import type { SandboxSettings, Settings, SettingsLayer, SettingsProblem } from '../contracts/settings.ts';
import { listSettingKeys } from './list-setting-keys.ts';

/** Keys that only user and managed settings may set, such as the API key, the endpoint and the session storage. */
const USER_ONLY_KEYS = listSettingKeys('isUserOnly');

/** Removes the keys a project may not set, and reports them. `userVariables` are those that the user lets projects set. */
export function restrictProjectLayer(
  layer: SettingsLayer,
  userVariables: readonly string[] = [],
): {
  readonly layer: SettingsLayer;
  readonly problems: readonly SettingsProblem[];
} {
  if (layer.source !== 'project' && layer.source !== 'local') return { layer, problems: [] };
  const ignored: Ignored[] = [];
  const ignore = (path: readonly string[], why: string) => void ignored.push({ path, why });
  const { permissions, sandbox, ...rest } = layer.settings;
  let remaining: Settings = { ...rest, ...(permissions && { permissions }), ...(sandbox && { sandbox }) };
  if (permissions?.defaultMode === 'bypassPermissions' || permissions?.defaultMode === 'auto') {
    const { defaultMode: mode, ...others } = permissions;
    remaining = { ...remaining, permissions: others };
    const action = mode === 'auto' ? 'turn on auto mode' : 'bypass permissions';
    ignore(['permissions', 'defaultMode'], `a project may not ${action}`);
  }
  if (remaining.autoMode !== undefined) {
    const { autoMode: _, ...others } = remaining;
    remaining = others;
    ignore(['autoMode'], 'a project may not configure auto mode');
  }
  if (sandbox !== undefined) {
    const restrictions = pickSandboxRestrictions(sandbox);
    remaining = { ...remaining, sandbox: restrictions };
    if (Object.keys(restrictions).length < Object.keys(sandbox).length)
      ignore(['sandbox'], 'a project may not loosen the sandbox');
  }
  const isAllowed = (name: string) => canProjectSet(name, userVariables);
  const forbidden = Object.keys(remaining.env ?? {}).filter((name) => !isAllowed(name));
  if (forbidden.length > 0) {
    const env = Object.fromEntries(Object.entries(remaining.env ?? {}).filter(([name]) => isAllowed(name)));
    remaining = { ...remaining, env };
    for (const name of forbidden)
      ignore(['env', name], 'a project may set it only if "projectVariables" in your own settings lists it');
  }
  const userOnly = USER_ONLY_KEYS.filter((key) => Object.hasOwn(remaining, key));
  for (const key of userOnly) ignore([key], 'only user and managed settings may set it');
  remaining = Object.fromEntries(Object.entries(remaining).filter(([key]) => !userOnly.includes(key)));
  return { layer: { ...layer, settings: remaining }, problems: createIgnoredProblem(layer, ignored) };
}

type Ignored = { readonly path: readonly string[]; readonly why: string };

/** Reports all ignored keys of a file in one sentence. */
function createIgnoredProblem(
  { file, source, lineOf }: SettingsLayer,
  ignored: readonly Ignored[],
): readonly SettingsProblem[] {
  const [first, ...more] = ignored;
  if (first === undefined) return [];
  const quoteKey = ({ path }: Ignored) => `"${path.join('.')}"`;
  const reasons = [...new Set(ignored.map(({ why }) => why))];
  const parts = reasons.map((why) => {
    const names = ignored.filter((entry) => entry.why === why).map(quoteKey);
    return `${names.join(', ')} (${why})`;
  });
  const keys = more.length === 0 ? 'a key that is' : 'keys that are';
  return [{ file, source, line: lineOf(first.path), text: `sets ${keys} ignored: ${parts.join('; ')}.` }];
}

/**
 * Variables that a project may set. It is an allow list, because every runtime, package manager and build tool has
 * variables that name programs, modules, registries or options to run with.
 */
const PROJECT_VARIABLES =
  /^(?:CI|DEBUG|HOST|PORT|TZ|LANG|LC_\w+|LOG_LEVEL|NO_COLOR|FORCE_COLOR|CLICOLOR(?:_FORCE)?|(?:NODE|APP|RAILS|RACK|FLASK|MIX|DENO)_ENV|(?:DATABASE|REDIS)_URL|RUST_(?:LOG|BACKTRACE)|PYTHON(?:UNBUFFERED|DONTWRITEBYTECODE|HASHSEED)|GIT_(?:AUTHOR|COMMITTER)_(?:NAME|EMAIL|DATE)|BASH_(?:DEFAULT|MAX)_TIMEOUT_MS|MCP_(?:TOOL_)?TIMEOUT|(?:APP|VITE|NEXT_PUBLIC|NUXT_PUBLIC|REACT_APP|EXPO_PUBLIC)_\w+)$/;

/** Returns whether a project may set a variable for commands. `userVariables` are those that the user lets it set. */
export function canProjectSet(name: string, userVariables: readonly string[]): boolean {
  return (PROJECT_VARIABLES.test(name) && !STARTS_WITH_OPTIONS.test(name)) || userVariables.includes(name);
}

/** Names such as APP_OPTS, which start scripts pass to a runtime. */
const STARTS_WITH_OPTIONS = /_(?:OPTS|OPTIONS|ARGS|FLAGS)$/;

/** Keeps only the sandbox settings that restrict. */
export function pickSandboxRestrictions(sandbox: SandboxSettings): SandboxSettings {
  const { deniedDomains, denyRead, denyWrite, failIfUnavailable } = sandbox;
  return {
    ...(sandbox.enabled === true ? { enabled: true } : {}),
    ...(sandbox.network === false ? { network: false } : {}),
    ...(sandbox.strictAllowlist === true ? { strictAllowlist: true } : {}),
    ...(deniedDomains && { deniedDomains }),
    ...(denyRead && { denyRead }),
    ...(denyWrite && { denyWrite }),
    ...(failIfUnavailable && { failIfUnavailable }),
  };
}
