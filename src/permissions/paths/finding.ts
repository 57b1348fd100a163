import type { Hardening, Rule, RuleSuggestion, TraceStep } from '../../contracts/permission.ts';

/** Something the call needs, and what covers it; without cover somebody has to be asked. */
export type Need = {
  readonly kind: 'read' | 'edit' | 'command' | 'fetch' | 'other';
  readonly subject: string;
  readonly text: string;
  readonly cover?: { readonly by: 'rule'; readonly rule: Rule } | { readonly by: 'default' };
  /** Of an edit: the file, where it really is. */
  readonly path?: string;
  /** An edit inside the workspace, which acceptEdits covers. */
  readonly edits?: 'workspace';
  readonly suggestion?: RuleSuggestion;
  /** Rules deny or ask about what this may be, or a sandbox is left: no mode runs it unasked. */
  readonly asks?: 'in every mode' | 'to leave the sandbox' | 'by mode';
};

/** What the steps of a decision found, before the mode has its say. */
export type Findings = {
  /** Denials, breakers and asking rules, in the order they were met. */
  readonly objections: readonly TraceStep[];
  readonly needs: readonly Need[];
  /** What could not be analysed, as sentences. */
  readonly unanalysed: readonly string[];
  readonly hardens: readonly Hardening[];
  /** Files that the call may fill from files of secrets. */
  readonly copies?: readonly string[];
  /** Places that are to be opened to it. Real paths. */
  readonly opens?: readonly string[];
};

export function sourceOf(rule: Rule): string {
  if (rule.file === undefined) return rule.source;
  return rule.line === undefined ? rule.file : `${rule.file}:${rule.line}`;
}

export function ruleSays(rule: Rule): string {
  return `${rule.text} (${sourceOf(rule)})`;
}
