import type { Assignment, Redirection } from 'unbash';
import { isLiteralHereDoc, type LoopVariables, parseShellArgument, type ShellArgument } from './shell-words.ts';

/** A file that a redirection opens. */
export type ShellRedirect = { readonly use: 'read' | 'write' | 'both'; readonly target: ShellArgument };

/** The files that a redirection opens, and the reasons why they may be others than they seem. */
export type RedirectAnalysis = { readonly redirects: readonly ShellRedirect[]; readonly problems: readonly string[] };

const HARMLESS_VARIABLES = /^(?:LANG|LANGUAGE|LC_[A-Z]+|TZ|NO_COLOR|FORCE_COLOR|CI|TERM|COLUMNS|LINES|NODE_ENV)$/;

/** Parses one redirection; `source` is the text that its positions refer to. */
export function parseShellRedirect(redirect: Redirection, source: string, variables: LoopVariables): RedirectAnalysis {
  const problems =
    redirect.descriptor?.type === 'FileDescriptorVariable'
      ? ['A redirection stores its file descriptor in a variable.']
      : [];
  const reject = (problem: string): RedirectAnalysis => ({ redirects: [], problems: [...problems, problem] });
  if (redirect.type === 'HereDoc') {
    return isLiteralHereDoc(redirect) ? { redirects: [], problems } : reject('Bash expands the here-document.');
  }
  if (redirect.target === undefined) return reject('A redirection has no target.');
  const target = parseShellArgument(redirect.target, undefined, variables);
  // A number directly before the next operator is the file descriptor of that operator.
  const isNextDescriptor = /^\d+$/.test(target.text) && /[<>]/.test(source.charAt(redirect.target.end));
  if (redirect.type === 'HereString') {
    const isPlain = target.kind === 'literal' && !isNextDescriptor;
    return isPlain ? { redirects: [], problems } : reject('Bash expands the here-string.');
  }
  const { operator } = redirect;
  if ((operator === '>&' || operator === '<&') && /^(?:\d+-?|-)$/.test(target.text) && !isNextDescriptor)
    return { redirects: [], problems };
  const use = operator === '<' || operator === '<&' ? 'read' : operator === '<>' ? 'both' : 'write';
  const isPlain = target.kind === 'literal' && !isNextDescriptor;
  return {
    redirects: [{ use, target }],
    problems: isPlain ? problems : [...problems, 'The target of a redirection is not a plain file name.'],
  };
}

/** An assignment before a command, such as `CI=1`. */
export type ShellAssignment = {
  readonly name: string;
  /** The value as bash assigns it, or `undefined` if it is not literal. */
  readonly value?: string;
  /** The reason why it may change what the command does. */
  readonly problem?: string;
};

/** Parses an assignment before a command. */
export function parseShellAssignment({ name, value, append, index }: Assignment): ShellAssignment {
  const word = value.type === 'Word' ? parseShellArgument(value) : undefined;
  const isLiteral = word?.kind === 'literal' && append !== true && index === undefined;
  const problem = `Setting ${name} may change what the command does.`;
  return {
    name,
    // A quoted tilde is part of the value, an unquoted one is the home folder.
    ...(isLiteral ? { value: word.home === 'none' ? `=${word.text}` : `=(home)${word.text}` } : {}),
    ...(isLiteral && HARMLESS_VARIABLES.test(name) ? {} : { problem }),
  };
}
