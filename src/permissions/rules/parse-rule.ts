import type { Rule, RuleBehavior } from '../../contracts/permission.ts';
import type { LoadedSettings, SettingsLayer } from '../../contracts/settings.ts';
import { hasTooManyWildcards, MAX_WILDCARDS } from '../../lib/patterns/glob.ts';
import { getRuleFamily, RENAMED_TOOLS, SAMPLING_RULE_NAME, SANDBOX_EXCEPTION_RULE_NAME } from './rule-families.ts';

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
  const classes = specifier.replace(/\\./g, '').match(/\[[!^]?(?:\]?[^\]]*\]|[^\]]*$)/g) ?? [];
  return classes.some((text) => !text.endsWith(']'));
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

/** A sandbox exception: the commands it applies to (absent: any), and what they may do beyond the sandbox. */
export type SandboxException = {
  readonly commands?: string;
  readonly grants: { readonly kind: 'all' } | { readonly kind: 'write' | 'host'; readonly what: string };
};

/** Parses `npm ci` (runs outside), `write:~/.npm` (for any command), `npm:* write:~/.npm` or `npm:* host:npmjs.org`. */
export function parseSandboxException(specifier: string | undefined): SandboxException {
  if (specifier === undefined) return { grants: { kind: 'all' } };
  // The first keyword counts: the path or host may contain the other one.
  const match = /^(write|host):(\S.*)$/s.exec(specifier) ?? /(?<!\s)\s+(write|host):(\S.*)$/s.exec(specifier);
  const [, kind, what = ''] = match ?? [];
  const commands = specifier.slice(0, match?.index);
  if (kind !== 'write' && kind !== 'host') return { commands: specifier, grants: { kind: 'all' } };
  return { ...(commands === '' ? {} : { commands }), grants: { kind, what } };
}

/** Formats the specifier that `parseSandboxException` parses. */
export function formatSandboxException({ commands, grants }: SandboxException): string {
  const target = grants.kind === 'all' ? [] : [`${grants.kind}:${grants.what}`];
  return [...(commands === undefined ? [] : [commands]), ...target].join(' ');
}

/** Returns the problem of a sandbox exception; undefined if it is valid. */
export function findSandboxExceptionProblem(specifier: string): string | undefined {
  const { commands, grants } = parseSandboxException(specifier);
  if (commands !== undefined && /^\s*(?::\*|\*)/.test(commands)) return 'The command before the * is missing.';
  if (grants.kind === 'write' && !/^(?:~(?=\/|$)|\/)/.test(grants.what))
    return 'The path must start with / or ~, as in write:~/.cache/x.';
  if (grants.kind === 'write' && /[*?]/.test(grants.what.replace(/\/\*\*$/, '')))
    return 'The path must not contain wildcards; everything below it is included.';
  if (grants.kind === 'host' && !/^(?:\*\.)?[\p{L}\p{M}\p{N}.-]+(?::\d{1,5})?$/u.test(grants.what))
    return 'The host must look like host:example.com, host:*.example.com or host:example.com:443.';
  return undefined;
}

/** Returns the strictest verdict of the rules on sampling requests of a server; a project cannot allow them. */
export function getSamplingVerdict(rules: readonly Rule[], server: string): RuleBehavior | undefined {
  const relevant = rules.filter(
    ({ tool, specifier, behavior, source, problem }) =>
      tool === SAMPLING_RULE_NAME &&
      problem === undefined &&
      (specifier === undefined || specifier === server) &&
      !(behavior === 'allow' && source === 'project'),
  );
  const hasBehavior = (behavior: RuleBehavior) => relevant.some((rule) => rule.behavior === behavior);
  return (['deny', 'ask', 'allow'] as const).find(hasBehavior);
}
