import { z } from 'zod';
import type { PermissionUpdate, PermissionUpdateDestination } from '../contracts/frontend/host-capabilities.ts';
import type { RememberDestination, Rule, RuleBehavior } from '../contracts/permission.ts';
import type { LiveSessionState } from '../contracts/session-core.ts';
import { exhaustive, getErrorPhrase } from '../lib/errors.ts';
import { formatHomePath } from '../lib/files/path-style.ts';
import {
  editSettingsFile,
  getSettingsPath,
  type SettingsFolders,
  type SettingsScope,
} from '../settings/edit-settings.ts';
import { parseRuleTexts } from './rules/parse-rule.ts';

/** The dependencies of permission updates. */
type PermissionStoreDeps = {
  readonly cwd: string;
  readonly ouroHome: string;
  readonly home: string;
  readonly trusted: boolean;
  readonly live: LiveSessionState;
  readonly showNotice: (level: 'info' | 'warn', text: string) => void;
  /** Called after an answer of the user changed a settings file of the project. */
  readonly onStored: () => Promise<void>;
};

/** Updates of rules and directories, in effect at once and stored in settings files. */
type PermissionStore = {
  applyUpdates(updates: readonly PermissionUpdate[]): Promise<void>;
  /** Stores new allow rules and shows a notice about where they are stored. */
  rememberRules(rules: readonly string[], destination: RememberDestination): Promise<void>;
  /** Applies the updates since the start to the rules read from files: adds stored rules, drops removed ones. */
  updateRules(rules: readonly Rule[]): readonly Rule[];
};

/** Creates the object that applies permission updates: at once, and to the settings file they are meant for. */
export function createPermissionUpdater(deps: PermissionStoreDeps): PermissionStore {
  const { live, cwd, home } = deps;
  let stored: readonly Rule[] = [];
  let removed: readonly ((rule: Rule) => boolean)[] = [];

  async function storeUpdate(update: PermissionUpdate, destination: SettingsScope): Promise<'stored' | 'not stored'> {
    const file = getSettingsPath(destination, deps);
    if (destination !== 'user' && !deps.trusted) {
      applyToSession(update, live);
      deps.showNotice(
        'warn',
        'This change applies to this session only, because this folder is not trusted. Run "ouro trust" to store changes.',
      );
      return 'not stored';
    }
    // In effect before the file is written: a call that starts meanwhile must not ask again.
    const before = { stored, removed };
    removed = [...removed, createRemovalTest(update)];
    stored = withUpdate(stored, update, destination, file);
    if (update.type === 'addDirectories') applyToSession(update, live);
    try {
      await updateSettingsList(destination, deps, toListChange(update));
      if (destination !== 'user') await deps.onStored();
      return 'stored';
    } catch (thrown) {
      ({ stored, removed } = before);
      applyToSession(update, live);
      deps.showNotice(
        'warn',
        `This change applies to this session only: ${file} could not be written (${getErrorPhrase(thrown)}).`,
      );
      return 'not stored';
    }
  }

  async function applyOne(
    update: PermissionUpdate,
    destination: PermissionUpdateDestination,
  ): Promise<'stored' | 'not stored'> {
    if (destination !== 'session') return storeUpdate(update, destination);
    applyToSession(update, live);
    return 'stored';
  }

  function withUpdate(
    rules: readonly Rule[],
    update: PermissionUpdate,
    source: SettingsScope,
    file: string,
  ): readonly Rule[] {
    if ('directories' in update) return rules;
    const others = rules.filter(
      (rule) =>
        rule.source !== source ||
        rule.behavior !== update.behavior ||
        (update.type !== 'replaceRules' && !update.rules.includes(rule.text)),
    );
    if (update.type === 'removeRules') return others;
    return [
      ...others,
      ...parseRuleTexts(update.rules, update.behavior, { source, file, root: source === 'user' ? home : cwd }),
    ];
  }

  return {
    updateRules: (rules) => [...stored, ...rules.filter((rule) => !removed.some((isRemoved) => isRemoved(rule)))],
    async applyUpdates(updates) {
      for (const update of updates) await applyOne(update, update.destination);
    },
    async rememberRules(rules, destination) {
      const outcome = await applyOne({ type: 'addRules', behavior: 'allow', rules, destination }, destination);
      // A notice already explained why it was not stored.
      if (outcome === 'not stored') return;
      const scope =
        destination === 'session'
          ? 'for this session'
          : `in ${formatHomePath(getSettingsPath(destination, deps), home, cwd)}`;
      deps.showNotice('info', `Allowed ${scope}: ${rules.join(', ')}`);
    },
  };
}

/** Returns a test for the rules that an update removed from its file. */
function createRemovalTest(update: PermissionUpdate): (rule: Rule) => boolean {
  if ('directories' in update || update.type === 'addRules') return () => false;
  const { type, destination, behavior, rules } = update;
  return (rule) =>
    rule.source === destination && rule.behavior === behavior && (type === 'replaceRules' || rules.includes(rule.text));
}

function applyToSession(update: PermissionUpdate, live: LiveSessionState): void {
  const { grants, directories } = live.current();
  if ('directories' in update) {
    const others = directories.filter((folder) => !update.directories.includes(folder));
    live.update({ directories: update.type === 'addDirectories' ? [...others, ...update.directories] : others });
  } else {
    const { behavior, rules, type } = update;
    const others = grants.filter(
      (grant) => grant.behavior !== behavior || (type !== 'replaceRules' && !rules.includes(grant.rule)),
    );
    const added = type === 'removeRules' ? [] : rules.map((rule) => ({ rule, behavior }));
    live.update({ grants: [...others, ...added] });
  }
}

function toListChange(update: PermissionUpdate): ListChange {
  const operation = update.type.startsWith('add') ? 'add' : update.type.startsWith('remove') ? 'remove' : 'replace';
  if ('directories' in update) return { list: 'additionalDirectories', operation, items: update.directories };
  return { list: update.behavior, operation, items: update.rules };
}

/** A change to one permission list of a settings file. */
type ListChange = {
  readonly list: RuleBehavior | 'additionalDirectories';
  readonly operation: 'add' | 'replace' | 'remove';
  readonly items: readonly string[];
};

const permissionsSchema = z
  .object({ permissions: z.record(z.string(), z.unknown()).catch({}) })
  .catch({ permissions: {} });
const listSchema = z.array(z.string());

/** Updates a permission list of a settings file. */
function updateSettingsList(
  scope: SettingsScope,
  folders: SettingsFolders,
  { list, operation, items }: ListChange,
): Promise<void> {
  return editSettingsFile(scope, folders, (content) => {
    const current = listSchema.safeParse(permissionsSchema.parse(content).permissions[list] ?? []);
    if (!current.success) {
      const file = getSettingsPath(scope, folders);
      throw new Error(`"permissions.${list}" in ${file} is not a list of strings. Fix it first.`);
    }
    const value = applyChange(current.data, operation, items);
    return value.length === current.data.length && value.every((item, index) => item === current.data[index])
      ? []
      : [{ path: ['permissions', list], value }];
  });
}

function applyChange(
  current: readonly string[],
  how: ListChange['operation'],
  items: readonly string[],
): readonly string[] {
  switch (how) {
    case 'add':
      return [...current, ...items.filter((item) => !current.includes(item))];
    case 'remove':
      return current.filter((item) => !items.includes(item));
    case 'replace':
      return items;
    default:
      return exhaustive(how);
  }
}
