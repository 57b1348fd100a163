import { PERMISSION_MODES } from '../contracts/permission.ts';
import { isJsonRecord, omitUndefined } from '../lib/json.ts';
import { splitWords } from '../lib/text/lines.ts';

/** Settings adapted from Claude Code, with the keys that ouro does not use. */
export type AdaptedSettings = { readonly value: unknown; readonly unused: readonly string[] };

/** Adapts a settings file of Claude Code: renames its keys and removes those that ouro does not use. */
export function adaptClaudeSettings(value: unknown): AdaptedSettings {
  if (!isJsonRecord(value)) return { value, unused: [] };
  const unused: string[] = [];
  const entries = Object.entries(value).flatMap(([key, inner]): readonly (readonly [string, unknown])[] => {
    const name = RENAMED_KEYS[key];
    if (name !== undefined) return Object.hasOwn(value, name) ? [] : [[name, adaptValue(name, inner)]];
    if (UNUSED_KEYS.has(key)) {
      unused.push(key);
      return [];
    }
    return [[key, adaptNested(key, inner, unused)]];
  });
  return { value: Object.fromEntries(entries), unused };
}

/** Keys of Claude Code with another name and the same meaning in ouro. */
const RENAMED_KEYS: Readonly<Record<string, string>> = {
  effortLevel: 'effort',
  autoCompactEnabled: 'autoCompact',
  fallbackModel: 'fallbackModels',
  prefersReducedMotion: 'reducedMotion',
  terminalProgressBarEnabled: 'progress',
  promptSuggestionEnabled: 'promptSuggestions',
  showMessageTimestamps: 'timestamps',
};

/** Keys of Claude Code without meaning in ouro; listed, because some resemble keys of ouro. */
const UNUSED_KEYS = new Set(
  `advisorModel agent allowedHttpHookUrls allowedMcpServers alwaysThinkingEnabled attribution autoScrollEnabled
  availableModels claudeMd deniedMcpServers disableAutoMode enableAllProjectMcpServers fastMode fileSuggestion
  includeCoAuthoredBy minimumVersion modelOverrides outputStyleOverrides plansDirectory preferredNotifChannel
  showThinkingSummaries skillOverrides strictKnownMarketplaces blockedMarketplaces sshConfigs teammateMode tui verbose viewMode voice worktree`.split(
    /\s+/,
  ),
);

/** Checks whether a nested key, or its value, has no meaning in ouro. */
const UNUSED_NESTED: Readonly<Record<string, (key: string, value: unknown) => boolean>> = {
  permissions: (key, value) =>
    !['allow', 'ask', 'deny', 'defaultMode', 'additionalDirectories', 'disableBypassPermissionsMode'].includes(key) ||
    (key === 'defaultMode' && !PERMISSION_MODES.some((mode) => mode === value)),
  autoMode: (key) => !['maxInARow', 'maxUsd'].includes(key),
  statusLine: (key) => ['refreshInterval', 'hideVimModeIndicator'].includes(key),
  sandbox: (key, value) =>
    typeof value === 'object' && value !== null && !Array.isArray(value)
      ? true
      : UNUSED_SANDBOX_KEYS.includes(key) || (key === 'failIfUnavailable' && value !== true),
};
const NETWORK_KEYS = [
  'allowedDomains',
  'deniedDomains',
  'strictAllowlist',
  'allowUnixSockets',
  'allowAllUnixSockets',
  'allowLocalBinding',
];
const UNUSED_SANDBOX_KEYS = splitWords(`
  allowUnsandboxedCommands excludedCommands enableWeakerNestedSandbox enableWeakerNetworkIsolation
  ignoreViolations ripgrep bwrapPath socatPath allowAppleEvents enabledPlatforms
`);

function adaptValue(name: string, value: unknown): unknown {
  return name === 'fallbackModels' && typeof value === 'string' ? value.split(',').map((item) => item.trim()) : value;
}

function adaptNested(key: string, value: unknown, unused: string[]): unknown {
  if (key === 'env' && isJsonRecord(value)) return Object.fromEntries(Object.entries(value).map(toVariable));
  const isUnused = UNUSED_NESTED[key];
  if (isUnused === undefined || !isJsonRecord(value)) return value;
  const known = key === 'sandbox' ? flattenSandbox(value) : value;
  const kept = Object.entries(known).filter(([inner, item]) => {
    if (!isUnused(inner, item)) return true;
    unused.push(`${key}.${inner}`);
    return false;
  });
  return Object.fromEntries(kept);
}

/** Converts numbers and booleans to text, as vendors print them in instructions. */
function toVariable([name, value]: readonly [string, unknown]): readonly [string, unknown] {
  return [name, typeof value === 'number' || typeof value === 'boolean' ? String(value) : value];
}

/** Flattens the sandbox settings: Claude Code nests hosts and paths one level deeper. */
function flattenSandbox({ filesystem, network, autoAllowBashIfSandboxed, ...rest }: Readonly<Record<string, unknown>>) {
  const files = isJsonRecord(filesystem) ? filesystem : {};
  const hosts = isJsonRecord(network) ? Object.entries(network) : [];
  const unknownNetwork = hosts.filter(([key]) => !NETWORK_KEYS.includes(key));
  const { allowRead, allowWrite, denyRead, denyWrite, ...others } = files;
  return {
    ...omitUndefined({ autoAllow: autoAllowBashIfSandboxed, allowRead, allowWrite, denyRead, denyWrite }),
    ...(Object.keys(others).length === 0 ? {} : { filesystem: others }),
    ...Object.fromEntries(hosts.filter(([key]) => NETWORK_KEYS.includes(key))),
    ...Object.fromEntries(unknownNetwork.map(([key, value]) => [`network.${key}`, { value }])),
    ...(network === undefined || isJsonRecord(network) ? {} : { network }),
    ...rest,
  };
}
