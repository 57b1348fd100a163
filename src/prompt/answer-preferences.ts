import { formatOneLine } from '../lib/text/format.ts';

/** The user's preferences for the language and style of answers. */
export type AnswerPreferences = {
  readonly language?: string | undefined;
  /** Absent for the default style. */
  readonly style?: { readonly name: string; readonly text: string } | undefined;
};

const LANGUAGE_CHARS = 80;

/** Renders the system prompt section about the language of answers; empty when none is set. */
export function renderLanguageSection(language: string | undefined): string {
  return language === undefined ? '' : `# Language\n${renderLanguageInstruction(language)}`;
}

function renderLanguageInstruction(language: string): string {
  return `Answer in this language, whatever language the question is in: ${formatOneLine(language).slice(0, LANGUAGE_CHARS)}. Code, commands and names stay as they are.`;
}

/** Describes changed preferences to the model. Without earlier preferences on record, an unchanged style is assumed. */
export function describeAnswerChanges(
  before: AnswerPreferences | undefined,
  now: AnswerPreferences,
): readonly string[] {
  const isSameStyle = before === undefined || JSON.stringify(before.style) === JSON.stringify(now.style);
  return [
    ...(before?.language === now.language ? [] : [describeLanguageChange(now.language)]),
    ...(isSameStyle ? [] : [describeStyleChange(now.style)]),
  ];
}

function describeLanguageChange(language: string | undefined): string {
  if (language === undefined) return 'No language is set any more: answer in the language of the user.';
  return `The user has set the language of answers. ${renderLanguageInstruction(language)}`;
}

function describeStyleChange(style: AnswerPreferences['style']): string {
  if (style === undefined) return 'The user has gone back to the ordinary output style: answer as the rules say.';
  return `The user chose another output style, "${formatOneLine(style.name)}". Where it differs from what was said about answering, this wins:\n\n${style.text.trim()}`;
}
