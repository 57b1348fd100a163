/** Where the tour stands when somebody says something else. */
type Standing = 'waiting' | 'finished' | 'no stage' | 'aside';

/** What the demo answers when it is asked to summarise: it has nothing of its own to add. */
export const SUMMARY = 'A demo session: a scripted model walked through a small sample project.';

/** Words that mean "go on with the tour". */
export function isGo(words: string): boolean {
  return /^\s*(?:y|yes|ok|okay|go|go on|go ahead|continue|next|start|resume|again)\b|\b(?:fix|test|tests|bug|fail|failing|demo|tour|show me)\b/i.test(
    words,
  );
}

/** Words the demo has an answer for, rather than a tour. */
export function isQuestion(words: string): boolean {
  return ANSWERS.some(([pattern]) => pattern.test(words));
}

/** An honest answer to words the script does not know. */
export function cannedAnswer(words: string, standing: Standing): string {
  const known = ANSWERS.find(([pattern]) => pattern.test(words));
  return [known?.[1] ?? UNKNOWN, NEXT[standing]].join('\n\n');
}

const ANSWERS: readonly (readonly [RegExp, string])[] = [
  [
    /\b(?:who|what) are you|real model|which model|scripted|are you (?:an? )?(?:ai|real)/i,
    'I am the built-in demo: a handful of prepared lines, no language model. The tools, permissions and files are real.',
  ],
  [
    /\b(?:key|token|account|log ?in|sign ?in|api|provider|ollama|local)\b/i,
    'For a real model set ANTHROPIC_API_KEY, or run a local server (Ollama, LM Studio, llama.cpp, vLLM) and choose it with `/model`.',
  ],
  [
    /\b(?:help|can you|commands?|keys|shortcuts?)\b/i,
    '`/help` lists commands and keys. Esc interrupts, Shift+Tab changes the permission mode, `/undo` takes back the last change.',
  ],
  [/\b(?:thanks?|thank you|bye|great|nice|cool)\b/i, 'Glad you like it.'],
];

const UNKNOWN =
  'This is the demo, and I have no line for that: my answers are prepared, a real model would read yours.';

const NEXT: Readonly<Record<Standing, string>> = {
  waiting: 'Say `go on` and the tour continues where it stopped.',
  finished: 'The tour is over. Leave with Ctrl+C twice, or look around: the files in this folder are real.',
  aside: 'The tour stands where it stood.',
  'no stage':
    'The tour needs its sample project: start it with `ouro demo`. Or set ANTHROPIC_API_KEY to work with a real model here.',
};
