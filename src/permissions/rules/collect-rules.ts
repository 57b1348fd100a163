import type { Rule, RuleBehavior } from '../../contracts/permission.ts';
import type { LoadedSettings, SettingsLayer } from '../../contracts/settings.ts';
import { parseRule, type RuleOrigin } from './rules.ts';

const BEHAVIORS: readonly RuleBehavior[] = ['deny', 'ask', 'allow'];

/** The rules of every settings layer, each with its file and line. Lists unite; nothing overrides a rule. */
export function rulesOfSettings(
  { layers, problems }: LoadedSettings,
  places: { readonly cwd: string; readonly home: string },
): readonly Rule[] {
  // A list that could not be read may have held a denial. Until it is mended, everything asks.
  const unread = problems.flatMap(({ file, line, source, text }): readonly Rule[] =>
    /"permissions(?:\.(?:deny|ask)[^"]*)?"|is not valid:/.test(text)
      ? [
          {
            text: 'deny',
            tool: '*',
            behavior: 'deny',
            source,
            file,
            ...(line === undefined ? {} : { line }),
            problem: `The file ${text}`,
          },
        ]
      : [],
  );
  return [...unread, ...layers.flatMap((layer) => rulesOfLayer(layer, places))];
}

/** Rules that stand in no file: flags, and what was granted for the session. */
export function rulesOfTexts(texts: readonly string[], behavior: RuleBehavior, origin: RuleOrigin): readonly Rule[] {
  return texts.map((text) => parseRule(text, behavior, origin));
}

function rulesOfLayer(
  layer: SettingsLayer,
  { cwd, home }: { readonly cwd: string; readonly home: string },
): readonly Rule[] {
  const { source, file, settings } = layer;
  const root = source === 'managed' ? '/' : source === 'user' ? home : (projectOf(file) ?? cwd);
  return BEHAVIORS.flatMap((behavior) =>
    (settings.permissions?.[behavior] ?? []).map((text, at) => {
      const line = layer.lineOf(['permissions', behavior, at]);
      return parseRule(text, behavior, { source, file, root, ...(line === undefined ? {} : { line }) });
    }),
  );
}

/** The folder whose settings these are. */
function projectOf(file: string): string | undefined {
  return /^(\/.*)\/\.claude\/settings(?:\.local)?\.json$/.exec(file)?.[1];
}
