import { findNodeAtLocation, getNodeValue, type ParseError, parseTree, printParseErrorCode } from 'jsonc-parser';
import type { Settings, SettingsLayer, SettingsProblem, SettingsSource } from '../contracts/settings.ts';
import { ofClaude } from './of-claude.ts';
import { usablePart } from './usable.ts';

/** What came of one file: what could be used, and a sentence for everything that could not. */
export type ReadLayer = { readonly layer: SettingsLayer; readonly problems: readonly SettingsProblem[] };

type Path = readonly (string | number)[];

/** Reads a settings text. A bad value loses its key, never the file; of a file that is not JSON only what it forbids is left. */
export function readLayer(text: string, file: string, source: SettingsSource): ReadLayer {
  try {
    return read(text, file, source);
  } catch (thrown) {
    if (!(thrown instanceof RangeError)) throw thrown;
    // Brackets in brackets, deeper than the parser can go.
    const layer: SettingsLayer = { source, file, settings: {}, lineOf: () => undefined };
    const words = 'is not valid: it is nested too deeply. Nothing in it is used.';
    return { layer, problems: [{ file, source, line: undefined, text: words }] };
  }
}

function read(text: string, file: string, source: SettingsSource): ReadLayer {
  const errors: ParseError[] = [];
  const tree = parseTree(text.replace(/^\uFEFF/, ''), errors, { allowTrailingComma: true });
  const lineOf = (path: Path) => {
    const node = tree && findNodeAtLocation(tree, [...path]);
    return node && lineAt(text, node.offset);
  };
  const nearestLine = (path: Path): number | undefined =>
    lineOf(path) ?? (path.length === 0 ? undefined : nearestLine(path.slice(0, -1)));
  const problem = (line: number | undefined, words: string): SettingsProblem => ({ file, source, line, text: words });
  if (text.trim() === '') return { layer: { source, file, settings: {}, lineOf }, problems: [] };
  const broken = errors[0];
  const adapted = ofClaude(tree?.type === 'object' ? getNodeValue(tree) : {});
  const { settings, complaints, placeOf } = usablePart(adapted.value);
  const layer = { source, file, settings, lineOf: (path: Path) => lineOf(placeOf(path)) };
  if (broken !== undefined || tree?.type !== 'object') {
    const what = broken === undefined ? 'it must be one JSON object' : readable(printParseErrorCode(broken.error));
    const tight = onlyForbidden(settings);
    const rest =
      tight.permissions === undefined ? 'Nothing in it is used.' : 'Only what it denies and asks for is used.';
    const line = lineAt(text, broken?.offset ?? 0);
    return { layer: { ...layer, settings: tight }, problems: [problem(line, `is not valid: ${what}. ${rest}`)] };
  }
  const known = complaints.filter(({ isUnknown }) => isUnknown !== true);
  const told = known.map(({ path, words }) => problem(nearestLine(path), words));
  const foreign = complaints.filter(({ isUnknown }) => isUnknown === true);
  const unused = [...adapted.unused, ...foreign.map(({ path }) => path.join('.'))];
  const [first, ...more] = unused;
  if (first === undefined) return { layer, problems: told };
  const line = nearestLine(first.split('.'));
  if (more.length === 0) return { layer, problems: [...told, problem(line, `has an unknown key "${first}".`)] };
  return { layer, problems: [...told, { ...problem(undefined, unusedWords(unused)), unused }] };
}

const MOST_NAMES = 8;

/** One sentence for everything that belongs to another program. */
function unusedWords(unused: readonly string[]): string {
  const more = unused.length - MOST_NAMES;
  const rest = more > 0 ? ` and ${more} more ("ouro settings explain" lists them)` : '';
  return `has ${unused.length} keys that ouro does not use: ${unused.slice(0, MOST_NAMES).join(', ')}${rest}.`;
}

/** Half a file may still forbid: a comma too few must not let through what was denied. */
function onlyForbidden({ permissions: { deny = [], ask = [] } = {} }: Settings): Settings {
  if (deny.length + ask.length === 0) return {};
  return {
    permissions: { ...(deny.length === 0 ? {} : { deny }), ...(ask.length === 0 ? {} : { ask }) },
  };
}

function lineAt(text: string, offset: number): number {
  return text.slice(0, offset).split('\n').length;
}

function readable(code: string): string {
  return code.replaceAll(/([a-z])([A-Z])/g, '$1 $2').toLowerCase();
}
