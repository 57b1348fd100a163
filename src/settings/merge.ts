import type { JsonValue } from '../contracts/json.ts';
import type {
  ExplainedSetting,
  SandboxSettings,
  Settings,
  SettingsLayer,
  SettingsProblem,
} from '../contracts/settings.ts';
import { SETTING_KEYS } from './keys.ts';

/** Our key, our endpoint, the sessions of every other folder: keys that only the user or managed policy may set. */
const NOT_FROM_PROJECT = SETTING_KEYS.filter(({ isOwn }) => isOwn).map(({ key }) => key);

/** Variables that steer ouro, shells, the loader or where settings are looked for: no project sets them, approved or not. */
const STEERING =
  /^(?:ANTHROPIC_.*|OURO_.*|HOME|XDG_CONFIG_.*|GCONV_PATH|LOCPATH|BUN_.*|BASH_ENV|ENV|BASH_FUNC_.*|PROMPT_COMMAND|SHELLOPTS|BASHOPTS|PS4|IFS|LD_.*|DYLD_.*|NODE_OPTIONS|GIT_(?!AUTHOR_|COMMITTER_).*)$/;

/** What a project says that it has no say in: left out, and told. */
export function restrained(layer: SettingsLayer): {
  readonly layer: SettingsLayer;
  readonly problems: readonly SettingsProblem[];
} {
  if (layer.source !== 'project' && layer.source !== 'local') return { layer, problems: [] };
  const ignored: Ignored[] = [];
  const tell = (path: readonly string[], why: string) => void ignored.push({ path, why });
  const { permissions, sandbox, ...rest } = layer.settings;
  let tighter: Settings = { ...rest, ...(permissions && { permissions }), ...(sandbox && { sandbox }) };
  if (permissions?.defaultMode === 'bypassPermissions' || permissions?.defaultMode === 'auto') {
    const { defaultMode: mode, ...others } = permissions;
    tighter = { ...tighter, permissions: others };
    const what = mode === 'auto' ? 'have calls judged in your place' : 'switch permissions off';
    tell(['permissions', 'defaultMode'], `and a project may not ${what}`);
  }
  if (tighter.autoMode !== undefined) {
    const { autoMode: _, ...others } = tighter;
    tighter = others;
    tell(['autoMode'], 'and how much is judged in your place is not for a project to say');
  }
  if (sandbox !== undefined) {
    const narrower = narrowing(sandbox);
    tighter = { ...tighter, sandbox: narrower };
    if (Object.keys(narrower).length < Object.keys(sandbox).length)
      tell(['sandbox'], 'and a project may not loosen the sandbox');
  }
  const steering = Object.keys(tighter.env ?? {}).filter((name) => STEERING.test(name));
  if (steering.length > 0) {
    const env = Object.fromEntries(Object.entries(tighter.env ?? {}).filter(([name]) => !steering.includes(name)));
    tighter = { ...tighter, env };
    for (const name of steering) tell(['env', name], 'which could make other programs do something else');
  }
  const foreign = NOT_FROM_PROJECT.filter((key) => Object.hasOwn(tighter, key));
  for (const key of foreign) tell([key], 'which only your own or managed settings may do');
  tighter = Object.fromEntries(Object.entries(tighter).filter(([key]) => !foreign.includes(key)));
  return { layer: { ...layer, settings: tighter }, problems: ignoredLine(layer, ignored) };
}

type Ignored = { readonly path: readonly string[]; readonly why: string };

/** One sentence for a file, however much of it is ignored. */
function ignoredLine({ file, source, lineOf }: SettingsLayer, ignored: readonly Ignored[]): readonly SettingsProblem[] {
  const [first, ...more] = ignored;
  if (first === undefined) return [];
  const nameOf = ({ path }: Ignored) => `"${path.join('.')}"`;
  if (more.length === 0)
    return [{ file, source, line: lineOf(first.path), text: `sets ${nameOf(first)}, ${first.why}. It is ignored.` }];
  const reasons = [...new Set(ignored.map(({ why }) => why))];
  const each = reasons.map((why) => {
    const names = ignored.filter((one) => one.why === why).map(nameOf);
    return `${names.join(', ')}, ${why}`;
  });
  return [{ file, source, line: lineOf(first.path), text: `sets ${each.join('; ')}. That is ignored.` }];
}

/** What of it takes something away, and gives nothing. */
export function narrowing(sandbox: SandboxSettings): SandboxSettings {
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

/** Layers from weakest to strongest become one: lists unite, objects merge, scalars override. */
export function merge(layers: readonly SettingsLayer[]): Settings {
  return layers.reduceRight<Settings>((weaker, layer) => united(weaker, layer.settings), {});
}

function united<Value>(weaker: Value, stronger: Value): Value {
  if (Array.isArray(weaker) && Array.isArray(stronger))
    return JSON.parse(JSON.stringify([...new Set([...stronger, ...weaker])]));
  if (!isPlain(weaker) || !isPlain(stronger)) return stronger === undefined ? weaker : stronger;
  const keys = new Set([...Object.keys(weaker), ...Object.keys(stronger)]);
  const entries = [...keys].map((key) => [key, united(Reflect.get(weaker, key), Reflect.get(stronger, key))]);
  return Object.fromEntries(entries);
}

function isPlain(value: unknown): value is object {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

/** Each value with the layer it came from; lists name every layer that adds to them. */
export function explain(layers: readonly SettingsLayer[], wanted?: string): readonly ExplainedSetting[] {
  const found: ExplainedSetting[] = [];
  for (const layer of layers) {
    for (const { path, value } of leaves(layer.settings, [])) {
      const key = path.join('.');
      if (wanted !== undefined && key !== wanted && !key.startsWith(`${wanted}.`)) continue;
      const overridden = !Array.isArray(value) && found.some((other) => other.key === key);
      if (overridden) continue;
      const line = layer.lineOf(path);
      found.push({ key, value, source: layer.source, file: layer.file, ...(line === undefined ? {} : { line }) });
    }
  }
  return found;
}

function* leaves(value: object, path: readonly string[]): Generator<{ path: readonly string[]; value: JsonValue }> {
  for (const [key, inner] of Object.entries(value)) {
    if (isPlain(inner)) yield* leaves(inner, [...path, key]);
    else if (inner !== undefined) yield { path: [...path, key], value: inner };
  }
}
