import type { LanguageFn } from 'highlight.js';
import bash from 'highlight.js/lib/languages/bash';
import c from 'highlight.js/lib/languages/c';
import cpp from 'highlight.js/lib/languages/cpp';
import csharp from 'highlight.js/lib/languages/csharp';
import css from 'highlight.js/lib/languages/css';
import diff from 'highlight.js/lib/languages/diff';
import dockerfile from 'highlight.js/lib/languages/dockerfile';
import go from 'highlight.js/lib/languages/go';
import ini from 'highlight.js/lib/languages/ini';
import java from 'highlight.js/lib/languages/java';
import javascript from 'highlight.js/lib/languages/javascript';
import json from 'highlight.js/lib/languages/json';
import kotlin from 'highlight.js/lib/languages/kotlin';
import lua from 'highlight.js/lib/languages/lua';
import makefile from 'highlight.js/lib/languages/makefile';
import markdown from 'highlight.js/lib/languages/markdown';
import php from 'highlight.js/lib/languages/php';
import python from 'highlight.js/lib/languages/python';
import ruby from 'highlight.js/lib/languages/ruby';
import rust from 'highlight.js/lib/languages/rust';
import scss from 'highlight.js/lib/languages/scss';
import sql from 'highlight.js/lib/languages/sql';
import swift from 'highlight.js/lib/languages/swift';
import typescript from 'highlight.js/lib/languages/typescript';
import xml from 'highlight.js/lib/languages/xml';
import yaml from 'highlight.js/lib/languages/yaml';

/** A language that can be highlighted. */
export type HighlightLanguage = {
  readonly name: string;
  readonly define: LanguageFn;
  /** Other names of the language, as its definition has them. */
  readonly aliases?: readonly string[];
  /** Languages that occur within it. */
  readonly embeds?: readonly string[];
};

/** The highlighted languages. The aliases are repeated here, so that a language is only defined when it is used. */
export const LANGUAGES: readonly HighlightLanguage[] = [
  { name: 'bash', define: bash, aliases: ['sh', 'zsh'] },
  { name: 'c', define: c, aliases: ['h'] },
  { name: 'cpp', define: cpp, aliases: ['cc', 'c++', 'h++', 'hpp', 'hh', 'hxx', 'cxx'] },
  { name: 'csharp', define: csharp, aliases: ['cs', 'c#'] },
  { name: 'css', define: css },
  { name: 'diff', define: diff, aliases: ['patch'] },
  { name: 'dockerfile', define: dockerfile, aliases: ['docker'], embeds: ['bash'] },
  { name: 'go', define: go, aliases: ['golang'] },
  { name: 'ini', define: ini, aliases: ['toml'] },
  { name: 'java', define: java, aliases: ['jsp'] },
  { name: 'javascript', define: javascript, aliases: ['js', 'jsx', 'mjs', 'cjs'], embeds: ['css', 'xml'] },
  { name: 'json', define: json, aliases: ['jsonc', 'json5'] },
  { name: 'kotlin', define: kotlin, aliases: ['kt', 'kts', 'ktm', 'ktx'] },
  { name: 'lua', define: lua, aliases: ['pluto'] },
  { name: 'makefile', define: makefile, aliases: ['mk', 'mak', 'make'] },
  { name: 'markdown', define: markdown, aliases: ['md', 'mkdown', 'mkd'], embeds: ['xml'] },
  { name: 'php', define: php },
  { name: 'python', define: python, aliases: ['py', 'gyp', 'ipython'] },
  { name: 'ruby', define: ruby, aliases: ['rb', 'gemspec', 'podspec', 'thor', 'irb'] },
  { name: 'rust', define: rust, aliases: ['rs'] },
  { name: 'scss', define: scss },
  { name: 'sql', define: sql },
  { name: 'swift', define: swift },
  { name: 'typescript', define: typescript, aliases: ['ts', 'tsx', 'mts', 'cts'], embeds: ['css', 'xml'] },
  {
    name: 'xml',
    define: xml,
    aliases: ['html', 'xhtml', 'rss', 'atom', 'xjb', 'xsd', 'xsl', 'plist', 'wsf', 'svg'],
    embeds: ['css', 'javascript'],
  },
  { name: 'yaml', define: yaml, aliases: ['yml'], embeds: ['ruby'] },
];
