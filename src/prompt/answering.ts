import { oneLine } from '../lib/text/one-line.ts';

/** How the user wants answers to read. */
export type Answering = {
  readonly language?: string | undefined;
  /** Absent for the ordinary style. */
  readonly style?: { readonly name: string; readonly text: string } | undefined;
};

const LANGUAGE_CHARS = 80;

/** The language of answers, as the system prompt says it; empty when none was chosen. */
export function languageText(language: string | undefined): string {
  return language === undefined ? '' : `# Language\n${languageWords(language)}`;
}

function languageWords(language: string): string {
  return `Answer in this language, whatever language the question is in: ${oneLine(language).slice(0, LANGUAGE_CHARS)}. Code, commands and names stay as they are.`;
}

/** What became of language and style since they were last told; what nobody remembers of a style is not news. */
export function answeringNews(before: Answering | undefined, now: Answering): readonly string[] {
  const isSameStyle = before === undefined || JSON.stringify(before.style) === JSON.stringify(now.style);
  return [
    ...(before?.language === now.language ? [] : [changedLanguage(now.language)]),
    ...(isSameStyle ? [] : [changedStyle(now.style)]),
  ];
}

function changedLanguage(language: string | undefined): string {
  if (language === undefined) return 'No language is set any more: answer in the language of the user.';
  return `The user has set the language of answers. ${languageWords(language)}`;
}

function changedStyle(style: Answering['style']): string {
  if (style === undefined) return 'The user has gone back to the ordinary output style: answer as the rules say.';
  return `The user chose another output style, "${oneLine(style.name)}". Where it differs from what was said about answering, this wins:\n\n${style.text.trim()}`;
}
