import type { PanelAction, PanelRow } from '../../contracts/frontend/command.ts';
import type { SettingsSource } from '../../contracts/permission.ts';
import { SETTING_KEYS, type SettingKey } from '../../contracts/setting-keys.ts';
import type { SettingWithSource } from '../../contracts/settings.ts';
import { findClosestWord } from '../../lib/text/closest-word.ts';
import { editSetting, getSettingInput, getSettingsPath, type SettingsScope } from '../../settings/edit-settings.ts';
import { explainSettingsLayers } from '../../settings/merge-settings.ts';

import type { ConversationParts } from '../conversation-parts.ts';
import {
  type BuiltinSlashCommand,
  createErrorOutcome,
  createPanelOutcome,
  createSuccessOutcome,
} from './builtin-slash-command.ts';

const SOURCE_LABELS: Readonly<Record<SettingsSource | 'default', string>> = {
  managed: 'managed',
  flag: 'this run',
  local: 'local',
  project: 'project',
  user: 'user',
  default: 'default',
};
/** Settings that have a panel of their own. */
const SETTING_PANELS: readonly (readonly [RegExp, string])[] = [
  [/^permissions\./, 'permissions'],
  [/^(?:hooks|disableAllHooks)$/, 'hooks'],
  [/^(?:mcpServers|.*McpjsonServers)$/, 'mcp'],
  [/^theme$/, 'theme'],
];

/** `/config`: lists settings with value and source. Values that fit on one line can be changed in the list. */
export const CONFIG_SLASH_COMMAND: BuiltinSlashCommand = {
  name: 'config',
  aliases: ['settings'],
  description: 'show and change settings, with the source of each value',
  argumentHint: '[key] | set <key> <value> | unset <key>',
  async run(args, parts) {
    const [verb = '', key = '', value = ''] = splitArguments(args);
    if (verb === 'set' && value !== '') return changeValue(key, value, parts);
    if (verb === 'unset' && key !== '') return changeValue(key, undefined, parts);
    if (verb === 'set' || verb === 'unset')
      return createErrorOutcome('Usage: /config set <key> <value> or /config unset <key>.');
    const rows = groupRows(
      SETTING_KEYS.filter((setting) => setting.key !== '$schema' && matchesKey(setting.key, verb)).map((setting) =>
        createRow(setting, parts),
      ),
    );
    if (rows.length === 0) return createErrorOutcome(describeUnknownKey(verb));
    return createPanelOutcome({
      title: 'Settings',
      command: `config ${verb}`.trim(),
      rows,
      empty: 'No matching setting.',
      actions: [],
    });
  },
};

/** Groups rows: changed settings first, then settings by their first word. */
function groupRows(rows: readonly PanelRow[]): readonly PanelRow[] {
  const grouped = rows.map((row) => ({ ...row, group: getGroup(row) }));
  const groups = ['Changed', 'General', ...new Set(grouped.map(({ group }) => group))];
  return grouped.toSorted((a, b) => groups.indexOf(a.group) - groups.indexOf(b.group));
}

function getGroup({ id, cells }: PanelRow): string {
  if (cells[2] !== SOURCE_LABELS.default) return 'Changed';
  const [first = '', ...rest] = id.split('.');
  return rest.length === 0 ? 'General' : first;
}

/** Splits the arguments into two words and the unchanged rest. */
function splitArguments(args: string): readonly string[] {
  return /^(\S*)\s*(\S*)\s*([\s\S]*)$/.exec(args.trim())?.slice(1) ?? [];
}

function matchesKey(key: string, wanted: string): boolean {
  return wanted === '' || key === wanted || key.startsWith(`${wanted}.`);
}

function createRow(setting: SettingKey, { core }: ConversationParts): PanelRow {
  const { key, description, defaultText, takesEffect } = setting;
  const values = explainSettingsLayers(core.settings.loaded().layers, key);
  const [strongest] = values;
  const shown = strongest === undefined ? defaultText : formatValue(key, values);
  const when = takesEffect === 'now' ? 'with the next prompt' : 'with the next session';
  const locations = values.map(({ file, line }) => `${file}${line === undefined ? '' : `:${line}`}`);
  return {
    id: key,
    cells: [key, shown, SOURCE_LABELS[strongest?.source ?? 'default']],
    detail: [`${description} A change takes effect ${when}.`, ...new Set(locations)],
    actions: createActions(
      setting,
      strongest,
      core.extensions.current().styles.map(({ name }) => name),
    ),
  };
}

/** Formats a value: lists of all sources are combined, otherwise the strongest value is used. */
function formatValue(key: string, values: readonly SettingWithSource[]): string {
  const exact = values.filter((value) => value.key === key);
  if (exact.length === 0) return values.map((value) => value.key.slice(key.length + 1)).join(', ');
  const [first] = exact;
  if (Array.isArray(first?.value)) return exact.flatMap(({ value }) => value).join(', ');
  return typeof first?.value === 'string' ? first.value : JSON.stringify(first?.value);
}

function createActions(
  { key, defaultText }: SettingKey,
  strongest: SettingWithSource | undefined,
  styles: readonly string[],
): readonly PanelAction[] {
  const [, panel] = SETTING_PANELS.find(([names]) => names.test(key)) ?? [];
  if (panel !== undefined && key !== 'permissions.defaultMode')
    return [{ kind: 'run', key: 'enter', label: `opens /${panel}`, command: panel }];
  if (strongest?.source === 'managed' || strongest?.source === 'flag') return [];
  const command = `config set ${key}`;
  const current = strongest === undefined ? defaultText : String(strongest.value);
  const editable = getSettingInput(key);
  const choices = key === 'outputStyle' ? ['default', ...styles] : editable.kind === 'word' ? editable.words : [];
  const change: readonly PanelAction[] =
    choices.length > 0
      ? [{ kind: 'turn', label: 'changes', command, values: [...new Set(choices)], value: current }]
      : editable.kind === 'list'
        ? []
        : [
            {
              kind: 'write',
              key: 'enter',
              label: 'changes',
              command,
              initialText: strongest === undefined ? '' : current,
            },
          ];
  const isUserValue = strongest?.source === 'user' || strongest?.source === 'local';
  const unset: PanelAction = { kind: 'run', key: 'ctrl+d', label: 'resets it', command: `config unset ${key}` };
  return isUserValue && change.length > 0 ? [...change, unset] : change;
}

/** Changes a value in a settings file of the user, and describes the result. */
async function changeValue(key: string, value: string | undefined, parts: ConversationParts) {
  const { core } = parts;
  const setting = SETTING_KEYS.find((candidate) => candidate.key === key);
  if (setting === undefined) return createErrorOutcome(describeUnknownKey(key));
  if (core.options.frontend === 'host' && setting.isHostWritable !== true)
    return createErrorOutcome(`${key} can only be set by the user, not by the host.`);
  if (value !== undefined && getSettingInput(key).kind === 'list')
    return createErrorOutcome(`${key} cannot be set in one line. Edit ${getSettingsPath('user', getFolders(parts))}.`);
  const target = selectTarget(setting, parts, value);
  const outcome = await editSetting(key, value, target, getFolders(parts));
  if (!outcome.ok) return createErrorOutcome(outcome.problem);
  if (target === 'local') await core.settings.approveOwnChange();
  await core.settings.refresh();
  return createSuccessOutcome(describeResult(setting, value, target, parts));
}

function getFolders({ core }: ConversationParts) {
  return { ouroHome: core.environment.ouroHome, cwd: core.cwd };
}

/** Selects the file for a change: the local settings to override a project value, else the user settings. */
function selectTarget(
  { key, isUserOnly }: SettingKey,
  { core }: ConversationParts,
  value: string | undefined,
): SettingsScope {
  const [strongest] = explainSettingsLayers(core.settings.loaded().layers, key).filter(
    (setting) => setting.key === key,
  );
  if (isUserOnly === true || !core.trusted || strongest === undefined) return 'user';
  if (strongest.source === 'local') return 'local';
  return strongest.source === 'project' && value !== undefined ? 'local' : 'user';
}

function describeResult(
  { key, takesEffect, defaultText }: SettingKey,
  newValue: string | undefined,
  target: SettingsScope,
  parts: ConversationParts,
) {
  const file = getSettingsPath(target, getFolders(parts));
  const [strongest] = explainSettingsLayers(parts.core.settings.loaded().layers, key);
  const value = strongest === undefined ? defaultText : String(strongest.value);
  const when = takesEffect === 'now' ? 'with the next prompt' : 'with the next session';
  if (newValue === undefined) return `${key} is reset to ${value} ${when}: removed from ${file}.`;
  if (strongest !== undefined && strongest.source !== target && value !== newValue)
    return `${key} stays ${value}: ${strongest.file} overrides ${file}.`;
  return `${key} is set to ${value} ${when}, stored in ${file}.`;
}

function describeUnknownKey(key: string): string {
  const suggestion = findClosestWord(
    key,
    SETTING_KEYS.map((setting) => setting.key),
  );
  return `There is no setting ${key}.${suggestion === undefined ? ' /config lists all settings.' : ` Did you mean ${suggestion}?`}`;
}
