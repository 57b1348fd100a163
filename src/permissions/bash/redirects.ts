import type { Assignment, Redirection } from 'unbash';
import { type Argument, type Bindings, isPlainHereDoc, readWord } from './words.ts';

export type ShellRedirect = { readonly use: 'read' | 'write' | 'both'; readonly target: Argument };

/** What a redirection opens, and why it may be another than it seems. */
export type RedirectReading = { readonly redirects: readonly ShellRedirect[]; readonly problems: readonly string[] };

const HARMLESS_NAMES = /^(?:LANG|LANGUAGE|LC_[A-Z]+|TZ|NO_COLOR|FORCE_COLOR|CI|TERM|COLUMNS|LINES|NODE_ENV)$/;

export function readRedirect(redirect: Redirection, source: string, bound: Bindings): RedirectReading {
  const problems =
    redirect.descriptor?.type === 'FileDescriptorVariable' ? ['It stores a file descriptor in a variable.'] : [];
  const odd = (problem: string): RedirectReading => ({ redirects: [], problems: [...problems, problem] });
  if (redirect.type === 'HereDoc') {
    return isPlainHereDoc(redirect) ? { redirects: [], problems } : odd('Its here-document is expanded by bash.');
  }
  if (redirect.target === undefined) return odd('A redirection has no target.');
  const target = readWord(redirect.target, undefined, bound);
  // A number right before the next operator belongs to that operator.
  const isTaken = /^\d+$/.test(target.text) && /[<>]/.test(source.charAt(redirect.target.end));
  if (redirect.type === 'HereString') {
    const isPlain = target.kind === 'literal' && !isTaken;
    return isPlain ? { redirects: [], problems } : odd('Its here-string is expanded by bash.');
  }
  const { operator } = redirect;
  if ((operator === '>&' || operator === '<&') && /^(?:\d+-?|-)$/.test(target.text) && !isTaken)
    return { redirects: [], problems };
  const use = operator === '<' || operator === '<&' ? 'read' : operator === '<>' ? 'both' : 'write';
  const isPlain = target.kind === 'literal' && !isTaken;
  return {
    redirects: [{ use, target }],
    problems: isPlain ? problems : [...problems, 'The target of a redirection is not a plain file name.'],
  };
}

export function assignmentProblems(assignment: Assignment): readonly string[] {
  const plain = assignment.value.type === 'Word' && readWord(assignment.value).kind === 'literal';
  const harmless =
    plain && assignment.append !== true && assignment.index === undefined && HARMLESS_NAMES.test(assignment.name);
  return harmless ? [] : [`It sets ${assignment.name}, which may change what the command does.`];
}
