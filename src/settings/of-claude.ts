import { MODES } from '../contracts/permission.ts';

/** A settings file as ouro reads it, and what of it means nothing here. */
export type Adapted = { readonly value: unknown; readonly unused: readonly string[] };

/** What a key of Claude Code is called here, with the same meaning. */
const NAMES: Readonly<Record<string, string>> = {
  effortLevel: 'effort',
  autoCompactEnabled: 'autoCompact',
  fallbackModel: 'fallbackModels',
  prefersReducedMotion: 'reducedMotion',
  terminalProgressBarEnabled: 'progress',
  promptSuggestionEnabled: 'promptSuggestions',
  showMessageTimestamps: 'timestamps',
};

/** Keys of Claude Code that ouro has no use for, where one of ours reads alike. */
const FOREIGN = new Set(
  `advisorModel agent allowedHttpHookUrls allowedMcpServers alwaysThinkingEnabled attribution autoScrollEnabled
  availableModels claudeMd deniedMcpServers disableAutoMode enableAllProjectMcpServers fastMode fileSuggestion
  includeCoAuthoredBy minimumVersion modelOverrides outputStyleOverrides pluginConfigs plansDirectory preferredNotifChannel
  showThinkingSummaries skillOverrides strictKnownMarketplaces blockedMarketplaces sshConfigs teammateMode tui verbose viewMode voice worktree`.split(
    /\s+/,
  ),
);

/** What stands below a key of ours and has no meaning here; `true` is a value of a kind we do not have. */
const INNER: Readonly<Record<string, (key: string, value: unknown) => boolean>> = {
  permissions: (key, value) =>
    !['allow', 'ask', 'deny', 'defaultMode', 'additionalDirectories', 'disableBypassPermissionsMode'].includes(key) ||
    (key === 'defaultMode' && !MODES.some((mode) => mode === value)),
  autoMode: (key) => !['maxInARow', 'maxUsd'].includes(key),
  statusLine: (key) => ['refreshInterval', 'hideVimModeIndicator'].includes(key),
  sandbox: (key, value) =>
    typeof value === 'object' && value !== null && !Array.isArray(value)
      ? true
      : FOREIGN_SANDBOX.includes(key) || (key === 'failIfUnavailable' && value !== true),
};
const NETWORK_KEYS = [
  'allowedDomains',
  'deniedDomains',
  'strictAllowlist',
  'allowUnixSockets',
  'allowAllUnixSockets',
  'allowLocalBinding',
];
const FOREIGN_SANDBOX = [
  'allowUnsandboxedCommands',
  'excludedCommands',
  'enableWeakerNestedSandbox',
  'enableWeakerNetworkIsolation',
  'ignoreViolations',
  'ripgrep',
  'bwrapPath',
  'socatPath',
  'allowAppleEvents',
  'enabledPlatforms',
];

/** Takes a file of Claude Code for what it says: the same under other names, and without what nothing here does. */
export function ofClaude(value: unknown): Adapted {
  if (!isObject(value)) return { value, unused: [] };
  const unused: string[] = [];
  const entries = Object.entries(value).flatMap(([key, inner]): readonly (readonly [string, unknown])[] => {
    const name = NAMES[key];
    if (name !== undefined) return Object.hasOwn(value, name) ? [] : [[name, asOurs(name, inner)]];
    if (FOREIGN.has(key)) {
      unused.push(key);
      return [];
    }
    return [[key, withinOf(key, inner, unused)]];
  });
  return { value: Object.fromEntries(entries), unused };
}

function asOurs(name: string, value: unknown): unknown {
  return name === 'fallbackModels' && typeof value === 'string' ? value.split(',').map((one) => one.trim()) : value;
}

function withinOf(key: string, value: unknown, unused: string[]): unknown {
  const isForeign = INNER[key];
  if (isForeign === undefined || !isObject(value)) return value;
  const known = key === 'sandbox' ? flatSandbox(value) : value;
  const kept = Object.entries(known).filter(([inner, one]) => {
    if (!isForeign(inner, one)) return true;
    unused.push(`${key}.${inner}`);
    return false;
  });
  return Object.fromEntries(kept);
}

/** Its hosts, and its places to write and not to read, stand one level deeper; what runs unasked has a longer name. */
function flatSandbox({ filesystem, network, autoAllowBashIfSandboxed, ...rest }: Readonly<Record<string, unknown>>) {
  const files = isObject(filesystem) ? filesystem : {};
  const hosts = isObject(network) ? Object.entries(network) : [];
  const strangers = hosts.filter(([key]) => !NETWORK_KEYS.includes(key));
  const { allowWrite, denyRead, denyWrite, ...others } = files;
  return {
    ...(autoAllowBashIfSandboxed === undefined ? {} : { autoAllow: autoAllowBashIfSandboxed }),
    ...(allowWrite === undefined ? {} : { allowWrite }),
    ...(denyRead === undefined ? {} : { denyRead }),
    ...(denyWrite === undefined ? {} : { denyWrite }),
    ...(Object.keys(others).length === 0 ? {} : { filesystem: others }),
    ...Object.fromEntries(hosts.filter(([key]) => NETWORK_KEYS.includes(key))),
    ...Object.fromEntries(strangers.map(([key, value]) => [`network.${key}`, { value }])),
    ...(network === undefined || isObject(network) ? {} : { network }),
    ...rest,
  };
}

function isObject(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
