import { findNodeAtLocation, getNodeValue, type ParseError, parseTree, printParseErrorCode } from 'jsonc-parser';
import type { SettingsSource } from '../contracts/permission.ts';
import type { Settings, SettingsLayer, SettingsProblem } from '../contracts/settings.ts';
import { isNestedDeeperThan, MAX_JSON_DEPTH } from '../lib/json.ts';
import { getLineNumber } from '../lib/text/lines.ts';
import { adaptClaudeSettings } from './adapt-claude-settings.ts';
import { dropInvalidSettings } from './drop-invalid-settings.ts';

/** The valid part of a settings file, and problems about the rest. */
export type ParsedSettingsLayer = { readonly layer: SettingsLayer; readonly problems: readonly SettingsProblem[] };

type Path = readonly (string | number)[];

/** Parses a settings text. An invalid value drops only its key; of invalid JSON, the deny and ask rules are kept. */
export function parseSettingsLayer(text: string, file: string, source: SettingsSource): ParsedSettingsLayer {
  try {
    return parse(text, file, source);
  } catch (thrown) {
    if (!(thrown instanceof RangeError)) throw thrown;
    // Also the parser overflows the stack on extremely deep nesting.
    const layer: SettingsLayer = { source, file, settings: {}, lineOf: () => undefined };
    const message = 'is not valid: it is nested too deeply. The file is ignored.';
    return { layer, problems: [{ file, source, line: undefined, text: message, code: 'broken_file' }] };
  }
}

function parse(text: string, file: string, source: SettingsSource): ParsedSettingsLayer {
  const errors: ParseError[] = [];
  const tree = parseTree(text.replace(/^\uFEFF/, ''), errors, { allowTrailingComma: true });
  const lineOf = (path: Path) => {
    const node = tree && findNodeAtLocation(tree, [...path]);
    return node && getLineNumber(text, node.offset);
  };
  const findNearestLine = (path: Path): number | undefined =>
    lineOf(path) ?? (path.length === 0 ? undefined : findNearestLine(path.slice(0, -1)));
  const createProblem = (line: number | undefined, message: string): SettingsProblem => ({
    file,
    source,
    line,
    text: message,
  });
  if (text.trim() === '') return { layer: { source, file, settings: {}, lineOf }, problems: [] };
  const broken = errors[0];
  const value = tree?.type === 'object' ? getNodeValue(tree) : {};
  // Validation takes a time that grows with the square of the depth.
  if (isNestedDeeperThan(value, MAX_JSON_DEPTH)) throw new RangeError('nested too deeply');
  const adapted = adaptClaudeSettings(value);
  const { settings, issues, getOriginalPath } = dropInvalidSettings(adapted.value);
  const layer = { source, file, settings, lineOf: (path: Path) => lineOf(getOriginalPath(path)) };
  if (broken !== undefined || tree?.type !== 'object') {
    const what =
      broken === undefined ? 'it must be one JSON object' : splitCamelCase(printParseErrorCode(broken.error));
    const restricted = keepDenyAndAsk(settings);
    const rest =
      restricted.permissions === undefined ? 'The file is ignored.' : 'Only its deny and ask rules are used.';
    const line = getLineNumber(text, broken?.offset ?? 0);
    return {
      layer: { ...layer, settings: restricted },
      problems: [{ ...createProblem(line, `is not valid: ${what}. ${rest}`), code: 'broken_file' }],
    };
  }
  const known = issues.filter(({ isUnknown }) => isUnknown !== true);
  const reported = known.map(({ path, message }): SettingsProblem => {
    const code = getLossCode(path);
    return { ...createProblem(findNearestLine(path), message), ...(code === undefined ? {} : { code }) };
  });
  const unknown = issues.filter(({ isUnknown }) => isUnknown === true);
  const unknownKeys = [...adapted.unused, ...unknown.map(({ path }) => path.join('.'))];
  const [first, ...more] = unknownKeys;
  if (first === undefined) return { layer, problems: reported };
  const line = findNearestLine(first.split('.'));
  if (more.length === 0)
    return { layer, problems: [...reported, createProblem(line, `has an unknown key "${first}".`)] };
  return {
    layer,
    problems: [...reported, { ...createProblem(undefined, describeUnusedKeys(unknownKeys)), unknownKeys }],
  };
}

/** Returns the code for the loss of a part of the file: deny and ask rules may be lost with it. */
function getLossCode([key, list]: Path): SettingsProblem['code'] {
  if (key === undefined) return 'broken_file';
  const hasRules = key === 'permissions' && (list === undefined || /^(?:deny|ask)/.test(String(list)));
  return hasRules ? 'broken_rules' : undefined;
}

const MAX_NAMES = 8;

/** Lists unused keys, most of which belong to another program, in one sentence. */
function describeUnusedKeys(unused: readonly string[]): string {
  const more = unused.length - MAX_NAMES;
  const rest = more > 0 ? ` and ${more} more ("ouro settings explain" lists them)` : '';
  return `has ${unused.length} keys that ouro does not use: ${unused.slice(0, MAX_NAMES).join(', ')}${rest}.`;
}

/** Keeps the deny and ask rules of a broken file: a missing comma must not allow what was denied. */
function keepDenyAndAsk({ permissions: { deny = [], ask = [] } = {} }: Settings): Settings {
  if (deny.length + ask.length === 0) return {};
  return {
    permissions: { ...(deny.length === 0 ? {} : { deny }), ...(ask.length === 0 ? {} : { ask }) },
  };
}

function splitCamelCase(code: string): string {
  return code.replaceAll(/([a-z])([A-Z])/g, '$1 $2').toLowerCase();
}
