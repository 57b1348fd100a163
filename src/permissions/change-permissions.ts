import { join } from 'node:path';
import type { PermissionUpdate, UpdateDestination } from '../contracts/face/host.ts';
import type { LiveState } from '../contracts/live.ts';
import type { RememberDestination, Rule } from '../contracts/permission.ts';
import { messageOf } from '../lib/errors.ts';
import { homePath } from '../lib/text/home-path.ts';
import { rulesOfTexts } from './rules/collect-rules.ts';
import { type ListChange, storeRules } from './store-rules.ts';

export type ChangeWiring = {
  readonly cwd: string;
  readonly ouroHome: string;
  readonly home: string;
  readonly trusted: boolean;
  readonly live: LiveState;
  readonly notice: (level: 'info' | 'warn', text: string) => void;
  /** Called after a file of the project was changed by the user's own answer. */
  readonly onStored: () => Promise<void>;
};

export type PermissionChanges = {
  apply(updates: readonly PermissionUpdate[]): Promise<void>;
  /** Stores what is allowed from now on, and says where that stands. */
  remember(rules: readonly string[], destination: RememberDestination): Promise<void>;
  /** The rules as they stand in files now: what was put there since the start counts, what was taken out does not. */
  current(rules: readonly Rule[]): readonly Rule[];
};

type FileDestination = Exclude<UpdateDestination, 'session'>;

/** Applies what somebody answered: at once, and to the settings file it is meant for. */
export function changePermissions(wiring: ChangeWiring): PermissionChanges {
  const { live, cwd, home, ouroHome } = wiring;
  let stored: readonly Rule[] = [];
  let taken: readonly ((rule: Rule) => boolean)[] = [];

  async function toFile(update: PermissionUpdate, destination: FileDestination): Promise<'stored' | 'not stored'> {
    const file = fileOf(destination);
    if (destination !== 'user' && !wiring.trusted) {
      applyToSession(update, live);
      wiring.notice(
        'warn',
        'This folder is not trusted, so that holds for this session only. Run "ouro trust" to keep such answers.',
      );
      return 'not stored';
    }
    // It counts before the file is written: the next call must not be asked meanwhile.
    const before = { stored, taken };
    taken = [...taken, takenBy(update)];
    stored = withUpdate(stored, update, destination, file);
    if (update.type === 'addDirectories') applyToSession(update, live);
    try {
      await storeRules(file, listChange(update), destination === 'user' ? 'follow' : 'refuse');
      if (destination !== 'user') await wiring.onStored();
      return 'stored';
    } catch (thrown) {
      ({ stored, taken } = before);
      applyToSession(update, live);
      wiring.notice('warn', `That holds for this session only: ${file} could not be written (${messageOf(thrown)}).`);
      return 'not stored';
    }
  }

  async function applyOne(update: PermissionUpdate, destination: UpdateDestination): Promise<'stored' | 'not stored'> {
    if (destination !== 'session') return toFile(update, destination);
    applyToSession(update, live);
    return 'stored';
  }

  function withUpdate(
    rules: readonly Rule[],
    update: PermissionUpdate,
    source: FileDestination,
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
      ...rulesOfTexts(update.rules, update.behavior, { source, file, root: source === 'user' ? home : cwd }),
    ];
  }

  function fileOf(destination: FileDestination): string {
    if (destination === 'user') return join(ouroHome, 'settings.json');
    return join(cwd, '.claude', destination === 'local' ? 'settings.local.json' : 'settings.json');
  }

  return {
    current: (rules) => [...stored, ...rules.filter((rule) => !taken.some((isTaken) => isTaken(rule)))],
    async apply(updates) {
      for (const update of updates) await applyOne(update, update.destination);
    },
    async remember(rules, destination) {
      const where = destination === 'session' ? '' : `, by ${homePath(fileOf(destination), home, cwd)}`;
      const done = await applyOne({ type: 'addRules', behavior: 'allow', rules, destination }, destination);
      // Why something was not stored has been said.
      if (done === 'not stored') return;
      const until = where === '' ? ' until you leave' : ` any more${where}`;
      wiring.notice('info', `Not asked${until}: ${rules.join(', ')}`);
    },
  };
}

/** Which rules of a file an update took out of it. */
function takenBy(update: PermissionUpdate): (rule: Rule) => boolean {
  if ('directories' in update || update.type === 'addRules') return () => false;
  const { type, destination, behavior, rules } = update;
  return (rule) =>
    rule.source === destination && rule.behavior === behavior && (type === 'replaceRules' || rules.includes(rule.text));
}

function applyToSession(update: PermissionUpdate, live: LiveState): void {
  const { grants, directories } = live.now();
  if ('directories' in update) {
    const others = directories.filter((folder) => !update.directories.includes(folder));
    live.change({ directories: update.type === 'addDirectories' ? [...others, ...update.directories] : others });
  } else {
    const { behavior, rules, type } = update;
    const others = grants.filter(
      (grant) => grant.behavior !== behavior || (type !== 'replaceRules' && !rules.includes(grant.rule)),
    );
    const added = type === 'removeRules' ? [] : rules.map((rule) => ({ rule, behavior }));
    live.change({ grants: [...others, ...added] });
  }
}

function listChange(update: PermissionUpdate): ListChange {
  const how = update.type.startsWith('add') ? 'add' : update.type.startsWith('remove') ? 'remove' : 'replace';
  if ('directories' in update) return { list: 'additionalDirectories', how, items: update.directories };
  return { list: update.behavior, how, items: update.rules };
}
