import type { Rule, RuleBehavior } from '../../contracts/permission.ts';
import { SAMPLING_RULE_NAME } from './rule-families.ts';

/** A sandbox exception: the commands it applies to (absent: any), and what they may do beyond the sandbox. */
export type SandboxException = {
  readonly commands?: string;
  readonly grants: { readonly kind: 'all' } | { readonly kind: 'write' | 'host'; readonly what: string };
};

/** Parses `npm ci` (runs outside), `write:~/.npm` (for any command), `npm:* write:~/.npm` or `npm:* host:npmjs.org`. */
export function parseSandboxException(specifier: string | undefined): SandboxException {
  if (specifier === undefined) return { grants: { kind: 'all' } };
  // The first keyword counts: the path or host may contain the other one.
  const match = /^()(write|host):(\S.*)$/s.exec(specifier) ?? /^(.*?)\s+(write|host):(\S.*)$/s.exec(specifier);
  const [, commands = '', kind, what = ''] = match ?? [];
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
