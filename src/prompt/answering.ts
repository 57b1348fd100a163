import { oneLine } from '../lib/text/one-line.ts';

/** How the user wants answers to read. */
export type Answering = {
  readonly language: string | undefined;
  /** Absent for the ordinary style. */
  readonly style: { readonly name: string; readonly text: string } | undefined;
};

const LANGUAGE_CHARS = 80;

/** The language of answers, as the system prompt says it; empty when none was chosen. */
export function languageText(language: string | undefined): string {
  return language === undefined ? '' : `# Language\n${languageWords(language)}`;
}

function languageWords(language: string): string {
  return `Answer in this language, whatever language the question is in: ${oneLine(language).slice(0, LANGUAGE_CHARS)}. Code, commands and names stay as they are.`;
}

/** What became of language and style since they were last told; a style nobody remembers is not news. */
export function answeringNews(
  before: { readonly language?: string | undefined; readonly style?: string | undefined },
  now: Answering,
): readonly string[] {
  return [
    ...(before.language === now.language ? [] : [changedLanguage(now.language)]),
    ...(before.style === undefined || before.style === styleName(now) ? [] : [changedStyle(now.style)]),
  ];
}

export function styleName({ style }: Answering): string {
  return style?.name ?? 'default';
}

function changedLanguage(language: string | undefined): string {
  if (language === undefined) return 'No language is set any more: answer in the language of the user.';
  return `The user has set the language of answers. ${languageWords(language)}`;
}

function changedStyle(style: Answering['style']): string {
  if (style === undefined) return 'The user has gone back to the ordinary output style: answer as the rules say.';
  return `The user chose another output style, "${oneLine(style.name)}". Where it differs from what was said about answering, this wins:\n\n${style.text.trim()}`;
}
