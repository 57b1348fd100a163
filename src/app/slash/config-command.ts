import type { PanelAct, PanelRow } from '../../contracts/face/panel.ts';
import type { ExplainedSetting, SettingsSource } from '../../contracts/settings.ts';
import { nearest } from '../../lib/text/nearest.ts';
import { changeSetting, type OwnPlace, ownFile, sayableValue } from '../../settings/change-setting.ts';
import { SETTING_KEYS, type SettingKey } from '../../settings/keys.ts';
import { explain } from '../../settings/merge.ts';
import { asPanel, type BuiltinCommand, done, failed } from './builtin-command.ts';
import type { ConversationParts } from './conversation-parts.ts';

const PLACE_WORDS: Readonly<Record<SettingsSource | 'default', string>> = {
  managed: 'managed',
  flag: 'this run',
  local: 'yours, here',
  project: 'project',
  user: 'yours',
  default: 'default',
};
/** Lists are changed where they are shown best. */
const PANELS: readonly (readonly [RegExp, string])[] = [
  [/^permissions\./, 'permissions'],
  [/^(?:hooks|disableAllHooks)$/, 'hooks'],
  [/^(?:mcpServers|.*McpjsonServers)$/, 'mcp'],
  [/^theme$/, 'theme'],
];

/** Every setting with its value and where that comes from; what can be said in a line is changed in place. */
export const CONFIG_COMMAND: BuiltinCommand = {
  name: 'config',
  aliases: ['settings'],
  description: 'every setting, where its value comes from; change it in place',
  argumentHint: '[key] | set <key> <value> | unset <key>',
  async run(args, parts) {
    const [verb = '', key = '', value = ''] = wordsOf(args);
    if (verb === 'set' && value !== '') return changed(key, value, parts);
    if (verb === 'unset' && key !== '') return changed(key, undefined, parts);
    if (verb === 'set' || verb === 'unset') return failed('Say /config set <key> <value>, or /config unset <key>.');
    const rows = SETTING_KEYS.filter(({ key: one }) => one !== '$schema' && fits(one, verb)).map((row) =>
      rowOf(row, parts),
    );
    if (rows.length === 0) return failed(unknownKey(verb));
    return asPanel({
      title: 'Settings',
      line: `config ${verb}`.trim(),
      rows,
      empty: 'No setting is called that.',
      acts: [],
    });
  },
};

/** The first two words, and the rest as it was written. */
function wordsOf(args: string): readonly string[] {
  return /^(\S*)\s*(\S*)\s*([\s\S]*)$/.exec(args.trim())?.slice(1) ?? [];
}

function fits(key: string, wanted: string): boolean {
  return wanted === '' || key === wanted || key.startsWith(`${wanted}.`);
}

function rowOf(about: SettingKey, { core }: ConversationParts): PanelRow {
  const { key, sentence, fallback, takesEffect } = about;
  const values = explain(core.settings.loaded().layers, key);
  const [strongest] = values;
  const shown = strongest === undefined ? fallback : valueWords(key, values);
  const when = takesEffect === 'now' ? 'from the next prompt on' : 'from the next session on';
  const places = values.map(({ file, line }) => `${file}${line === undefined ? '' : `:${line}`}`);
  return {
    id: key,
    cells: [key, shown, PLACE_WORDS[strongest?.source ?? 'default']],
    detail: [`${sentence} A change counts ${when}.`, ...new Set(places)],
    acts: actsOf(
      about,
      strongest,
      core.extensions.now().styles.map(({ name }) => name),
    ),
  };
}

/** Lists of several files are one; of anything else the strongest value counts. */
function valueWords(key: string, values: readonly ExplainedSetting[]): string {
  const own = values.filter((one) => one.key === key);
  if (own.length === 0) return values.map((one) => one.key.slice(key.length + 1)).join(', ');
  const [first] = own;
  if (Array.isArray(first?.value)) return own.flatMap(({ value }) => value).join(', ');
  return typeof first?.value === 'string' ? first.value : JSON.stringify(first?.value);
}

function actsOf(
  { key, fallback }: SettingKey,
  strongest: ExplainedSetting | undefined,
  styles: readonly string[],
): readonly PanelAct[] {
  const [, panel] = PANELS.find(([names]) => names.test(key)) ?? [];
  if (panel !== undefined && key !== 'permissions.defaultMode')
    return [{ kind: 'run', key: 'enter', label: `opens /${panel}`, line: panel }];
  if (strongest?.source === 'managed' || strongest?.source === 'flag') return [];
  const line = `config set ${key}`;
  const said = strongest === undefined ? fallback : String(strongest.value);
  const sayable = sayableValue(key);
  const words = key === 'outputStyle' ? ['default', ...styles] : sayable.kind === 'word' ? sayable.words : [];
  const change: readonly PanelAct[] =
    words.length > 0
      ? [{ kind: 'turn', label: 'changes', line, values: [...new Set(words)], value: said }]
      : sayable.kind === 'list'
        ? []
        : [{ kind: 'write', key: 'enter', label: 'changes', line, words: strongest === undefined ? '' : said }];
  const isOwn = strongest?.source === 'user' || strongest?.source === 'local';
  const unset = { kind: 'run', key: 'ctrl+d', label: 'takes it back', line: `config unset ${key}` } as const;
  return isOwn && change.length > 0 ? [...change, unset] : change;
}

/** Writes a value into a file of the person's own, and says what holds then. */
async function changed(key: string, words: string | undefined, parts: ConversationParts) {
  const { core } = parts;
  const about = SETTING_KEYS.find((one) => one.key === key);
  if (about === undefined) return failed(unknownKey(key));
  if (core.options.face === 'host' && about.isForHosts !== true)
    return failed(`${key} is for a person to set, not for the program that drives ouro.`);
  if (words !== undefined && sayableValue(key).kind === 'list')
    return failed(`${key} is more than one line can say. Write it into ${ownFile('user', homes(parts))}.`);
  const place = placeOf(about, parts, words);
  const made = await changeSetting(key, words, place, homes(parts));
  if (!made.ok) return failed(made.why);
  if (place === 'local') await core.settings.approveOwnChange();
  await core.settings.refresh();
  return done(whatHolds(about, words, place, parts));
}

function homes({ core }: ConversationParts) {
  return { ouroHome: core.environment.ouroHome, cwd: core.cwd };
}

/** Where a change counts: beside a value of this project, else among the person's own. */
function placeOf({ key, isOwn }: SettingKey, { core }: ConversationParts, words: string | undefined): OwnPlace {
  const found = explain(core.settings.loaded().layers, key).filter((one) => one.key === key);
  const [strongest] = found;
  if (isOwn === true || !core.trusted || strongest === undefined) return 'user';
  if (strongest.source === 'local') return 'local';
  return strongest.source === 'project' && words !== undefined ? 'local' : 'user';
}

function whatHolds(
  { key, takesEffect, fallback }: SettingKey,
  words: string | undefined,
  place: OwnPlace,
  parts: ConversationParts,
) {
  const file = ownFile(place, homes(parts));
  const [strongest] = explain(parts.core.settings.loaded().layers, key);
  const value = strongest === undefined ? fallback : String(strongest.value);
  const when = takesEffect === 'now' ? 'from the next prompt on' : 'from the next session on';
  if (words === undefined) return `${key} is ${value} ${when}: yours is taken out of ${file}.`;
  if (strongest !== undefined && strongest.source !== place && value !== words)
    return `${key} stays ${value}: ${strongest.file} is stronger than ${file}.`;
  return `${key} is ${value} ${when}, kept in ${file}.`;
}

function unknownKey(key: string): string {
  const close = nearest(
    key,
    SETTING_KEYS.map((one) => one.key),
  );
  return `There is no setting ${key}.${close === undefined ? ' /config shows them all.' : ` Did you mean ${close}?`}`;
}
