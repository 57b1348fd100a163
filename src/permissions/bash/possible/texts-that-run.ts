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
  const { texts, textOptions, runsText } = programOf(name);
  if (textOptions !== undefined) return optionTexts(textOptions, args);
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
      return args.flatMap((word) => /=!?(.*)/s.exec(word)?.[1] ?? []);
    case 'addresses':
      return args.flatMap((word) => /^(?:EXEC|SYSTEM|SHELL):(.*)/is.exec(word)?.[1] ?? []);
    case 'calls':
      return args.flatMap(systemCalls);
    default:
      return runsText === true ? args.filter((word) => /\s/.test(word)) : [];
  }
}

function optionTexts(options: readonly string[], args: readonly string[]): readonly string[] {
  return args.flatMap((word, at) => {
    const [name = '', ...value] = word.split('=');
    const glued = options.find((option) => option.length === 2 && word.startsWith(option) && word.length > 2);
    const text = options.includes(word)
      ? args[at + 1]
      : options.includes(name)
        ? value.join('=')
        : glued && word.slice(2);
    // `exec=command`, `ProxyCommand=command`.
    return text === undefined ? [] : [text, text.replace(/^[A-Za-z]+=/, '')];
  });
}

/** `system("rm x")` in the text of another language: a courtesy, not a promise. */
function systemCalls(text: string): readonly string[] {
  return [
    ...text.matchAll(/(?:system|exec|execSync|popen|spawn|run|qx|call|check_output)\s*\(?\s*(["'`])((?:(?!\1).)*)\1/gs),
  ].map((found) => found[2] ?? '');
}
