import type { Rule, RuleBehavior } from '../../contracts/permission.ts';
import type { LoadedSettings, SettingsLayer } from '../../contracts/settings.ts';
import { hasTooManyWildcards, MAX_WILDCARDS } from '../../lib/patterns/glob.ts';
import { getRuleFamily, RENAMED_TOOLS, SANDBOX_EXCEPTION_RULE_NAME } from './rule-families.ts';
import { findSandboxExceptionProblem } from './sandbox-exception-rule.ts';

type RuleOrigin = Pick<Rule, 'source' | 'file' | 'line' | 'root'>;

/** Parses one entry of a permission list. Never throws: an invalid entry becomes a rule with a `problem`. */
export function parseRule(text: string, behavior: RuleBehavior, origin: RuleOrigin): Rule {
  const trimmed = text.trim();
  const base = { text: trimmed, behavior, ...origin };
  const match = /^([A-Za-z][^\s()]*)(?:\(([\s\S]*)\))?$/.exec(trimmed);
  if (match === null) {
    return { ...base, tool: guessTool(trimmed), problem: 'Expected Tool or Tool(specifier).' };
  }
  const [, name = '', specifier] = match;
  const tool = normalizeToolName(name);
  const isWholeTool =
    specifier === undefined ||
    specifier.trim() === '*' ||
    (getRuleFamily(tool) === 'domain' && specifier.trim() === 'domain:*');
  if (isWholeTool) return { ...base, tool };
  const problem = findSpecifierProblem(tool, specifier.trim());
  return { ...base, tool, specifier: specifier.trim(), ...(problem === undefined ? {} : { problem }) };
}

/** Formats a rule; `parseRule` parses the text back to the same rule. */
export function formatRule(tool: string, specifier?: string): string {
  return specifier === undefined ? tool : `${tool}(${specifier})`;
}

function findSpecifierProblem(tool: string, specifier: string): string | undefined {
  if (specifier === '') return 'The parentheses are empty.';
  if (specifier.includes('\0')) return 'It contains a NUL byte.';
  if (hasTooManyWildcards(specifier)) return `It contains more than ${MAX_WILDCARDS} wildcards.`;
  const family = getRuleFamily(tool);
  if (family === 'domain' && !/^domain:(\*\.)?[\p{L}\p{M}\p{N}.-]+$/u.test(specifier)) {
    return `Expected ${tool}(domain:example.com).`;
  }
  if (tool === SANDBOX_EXCEPTION_RULE_NAME) return findSandboxExceptionProblem(specifier);
  if (family === 'command' && /^\s*(?::\*|\*)/.test(specifier)) return 'The command before the * is missing.';
  if (tool.startsWith('mcp__')) return 'Rules for MCP tools take no parentheses.';
  if ((family === 'read' || family === 'edit') && hasUnclosedBracket(specifier))
    return 'A bracket in the pattern is not closed.';
  return undefined;
}

function normalizeToolName(name: string): string {
  // Tool names of a server `my.server` replace the dot with an underscore.
  if (name.startsWith('mcp__')) return name.replace(/[^\w*-]/g, '_');
  return Object.hasOwn(RENAMED_TOOLS, name) ? (RENAMED_TOOLS[name] ?? name) : name;
}

function hasUnclosedBracket(specifier: string): boolean {
  const withoutClasses = specifier.replace(/\\./g, '').replace(/\[[!^]?\]?[^\]]*\]/g, '');
  return withoutClasses.includes('[');
}

/** Guesses the tool of an invalid rule from its first word; `*` (every tool) if there is none. */
function guessTool(text: string): string {
  const name = /^[A-Za-z][\w-]*/.exec(text)?.[0];
  return name === undefined ? '*' : normalizeToolName(name);
}

const BEHAVIORS: readonly RuleBehavior[] = ['deny', 'ask', 'allow'];

/** Collects the rules of every settings layer, with file and line. All lists apply; no layer overrides a rule. */
export function collectSettingsRules(
  { layers, problems }: LoadedSettings,
  folders: { readonly cwd: string; readonly home: string },
): readonly Rule[] {
  // An unreadable list may have contained a deny rule. Until it is fixed, every call asks.
  const unreadable = problems.flatMap(({ file, line, source, text, code }): readonly Rule[] =>
    code === 'broken_file' || code === 'broken_rules'
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
  return [...unreadable, ...layers.flatMap((layer) => parseLayerRules(layer, folders))];
}

/** Parses rules that are not from a file: flags, and rules granted for the session. */
export function parseRuleTexts(texts: readonly string[], behavior: RuleBehavior, origin: RuleOrigin): readonly Rule[] {
  return texts.map((text) => parseRule(text, behavior, origin));
}

function parseLayerRules(
  layer: SettingsLayer,
  { cwd, home }: { readonly cwd: string; readonly home: string },
): readonly Rule[] {
  const { source, file, settings } = layer;
  const root = source === 'managed' ? '/' : source === 'user' ? home : (findProjectFolder(file) ?? cwd);
  return BEHAVIORS.flatMap((behavior) =>
    (settings.permissions?.[behavior] ?? []).map((text, index) => {
      const line = layer.lineOf(['permissions', behavior, index]);
      return parseRule(text, behavior, { source, file, root, ...(line === undefined ? {} : { line }) });
    }),
  );
}

/** Returns the project folder that a settings file belongs to. */
function findProjectFolder(file: string): string | undefined {
  return /^(\/.*)\/\.claude\/settings(?:\.local)?\.json$/.exec(file)?.[1];
}
