import { escapeMultilineText } from './sanitize.ts';

const ESCAPES: Readonly<Record<string, string>> = {
  '&': '&amp;',
  '<': '&lt;',
  '>': '&gt;',
  '"': '&quot;',
  "'": '&#39;',
};

/** Escapes markup, and spells out invisible and bidirectional control characters. */
export function escapeHtml(text: string): string {
  return escapeMultilineText(text.toWellFormed()).replaceAll(/[&<>"']/g, (char) => ESCAPES[char] ?? char);
}
