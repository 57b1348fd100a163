import { programOf } from '../programs.ts';

/** Does a program of this name read words or its input as commands of a shell? */
export function runsTexts(name: string): boolean {
  const { isShell, runsText } = programOf(name);
  return isShell === true || runsText === true;
}

/** `find … -exec cmd`, `fd -x cmd`, `git bisect run cmd`: the word after the option starts a command. */
export function execStarts(argv: readonly string[]): readonly number[] {
  const { runsAfter = [] } = programOf(argv[0] ?? '');
  return argv.flatMap((word, index) => (index > 0 && runsAfter.includes(word) ? [index + 1] : []));
}

/** Words that some program will read as a script of their own. */
export function scriptTexts(argv: readonly string[]): readonly string[] {
  // `git rebase -x 'cat a'`, `xterm -e 'cat a'`: one word where a command begins is given to a shell as a whole.
  const whole = execStarts(argv).flatMap((at) => argv[at] ?? []);
  return [...whole.filter((word) => /\s/.test(word)), ...ownTexts(argv)];
}

function ownTexts([name = '', ...args]: readonly string[]): readonly string[] {
  const { textOptions = [] } = programOf(name);
  return [...optionTexts(textOptions, args), ...formTexts(name, args)];
}

function formTexts(name: string, args: readonly string[]): readonly string[] {
  const { texts, textOptions, runsText } = programOf(name);
  switch (texts) {
    case 'scripts':
      return args.filter((word) => !/^[-+]\w*$/.test(word));
    case 'joined':
      return [args.join(' '), ...args, ...args.map((word) => word.replace(/^[A-Za-z]+=/, ''))];
    case 'assigned':
      return args.map((word) => word.replace(/^[^=]*=/, ''));
    case 'behind-option':
      return args.flatMap((word, at) => {
        const glued = /^(?:-\w*S|--s[a-z-]*=)(.+)$/s.exec(word)?.[1];
        return glued ?? (/^(?:-\w*S|--s[a-z-]*)$/.test(args[at - 1] ?? '') ? word : []);
      });
    case 'editing':
      return args.flatMap((word) => /(?:^|[;\n\d$/])\s*e\s+(.+)/s.exec(word)?.[1] ?? []);
    case 'editor':
      return args.map((word) => word.replace(/^\+?[:!\s]*!?/, ''));
    case 'values':
      return [
        ...args.flatMap((word) => /=!?(.*)/s.exec(word)?.[1] ?? []),
        // `config alias.x '!cat a'`
        ...args.flatMap((word) => /^!(.*)/s.exec(word)?.[1] ?? []),
      ];
    case 'addresses':
      return args.flatMap((word) => /^(?:EXEC|SYSTEM|SHELL):(.*)/is.exec(word)?.[1] ?? []);
    case 'calls':
      return args.flatMap(systemCalls);
    default:
      return runsText === true && textOptions === undefined ? args.filter((word) => /\s/.test(word)) : [];
  }
}

/** The values of options, by their name, cut short, with a letter among others, or glued to it. */
function optionTexts(options: readonly string[], args: readonly string[]): readonly string[] {
  if (options.length === 0) return [];
  return args.flatMap((word, at) => {
    const texts = options.flatMap((option) => givenTo(option, word, args[at + 1]));
    // `exec=command`, `ProxyCommand=command`.
    return texts.flatMap((text) => [text, text.replace(/^[A-Za-z]+=/, '')]);
  });
}

function givenTo(option: string, word: string, next: string | undefined): readonly string[] {
  if (word === option) return next === undefined ? [] : [next];
  if (option.startsWith('--')) {
    const [name = '', ...value] = word.split('=');
    if (name.length < 4 || !option.startsWith(name)) return [];
    return value.length > 0 ? [value.join('=')] : next === undefined ? [] : [next];
  }
  const letter = option.length === 2 ? option.charAt(1) : '';
  const place = letter !== '' && /^-\w/.test(word) ? word.indexOf(letter, 1) : -1;
  if (place === -1 || !/^-[A-Za-z]*$/.test(word.slice(0, place))) return [];
  const glued = word.slice(place + 1);
  return glued === '' ? (next === undefined ? [] : [next]) : [glued];
}

/** `system("rm x")` in the text of another language: a courtesy, not a promise. */
function systemCalls(text: string): readonly string[] {
  return [
    ...text.matchAll(/(?:system|exec|execSync|popen|spawn|run|qx|call|check_output)\s*\(?\s*(["'`])((?:(?!\1).)*)\1/gs),
  ].map((found) => found[2] ?? '');
}
