import { type Command, forEachChild, parse, type SyntaxNode } from 'unbash';
import { mayRunTexts, programOf } from '../programs.ts';
import { baseName, wordsOf } from '../words.ts';
import { INLINE, interpreterAt, isFedCode } from './code.ts';
import { isInput, isInputPath } from './input-words.ts';
import { scriptTexts } from './texts-that-run.ts';
import { wrappedStarts } from './wrappers.ts';

/** Can a script be read as a shell reads it? */
export type IsCertain = (script: string) => boolean;

/** What is piped or redirected into a shell or an interpreter. */
export function feedProblems(root: SyntaxNode, isCertain: IsCertain): readonly string[] {
  const found: string[] = [];
  const visit = (node: SyntaxNode): void => {
    if (node.type === 'Pipeline') {
      const simple = node.commands.map((each) => (each.type === 'Command' ? wordsOf(each) : []));
      node.commands.forEach((stage, at) => {
        const inside = at === 0 ? [] : commandsIn(stage);
        const words = inside.find((each) => readsScript(each) || readsCode(each));
        if (words === undefined) return;
        const isKnown = simple.slice(0, at).every(isPrintedAsItStands) && !readsCode(words);
        if (!isKnown)
          found.push(`What is piped into ${baseName(words[Math.max(0, interpreterAt(words))] ?? '')} is not known.`);
      });
    }
    // `{ sh; } < file`
    if (node.type === 'Redirected' && node.redirects.some(({ operator }) => operator.startsWith('<'))) {
      const words = commandsIn(node.command).find((each) => readsScript(each) || readsCode(each));
      if (words !== undefined) found.push(`What is fed to ${baseName(words[0] ?? '')} is not known.`);
    }
    if (node.type === 'Command') found.push(...fedWith(node, isCertain));
    forEachChild(node, visit);
  };
  visit(root);
  return found;
}

/** The commands in a piece of script, and those in texts that they hand to a shell. */
function commandsIn(node: SyntaxNode): readonly (readonly string[])[] {
  const found: (readonly string[])[] = [];
  const visit = (each: SyntaxNode): void => {
    if (each.type === 'Command') found.push(wordsOf(each));
    forEachChild(each, visit);
  };
  visit(node);
  for (const text of found.flatMap(scriptTexts)) visit(parse(text));
  return found;
}

/** `echo` of words without escapes prints them, a space between each; whatever else prints may put words together. */
function isPrintedAsItStands([name = '', ...words]: readonly string[]): boolean {
  const { prints, messages } = programOf(name);
  return (
    prints === true && messages === 'all' && words.every((word) => !/[\\%]/.test(word) && !/^-\w*[neE]/.test(word))
  );
}

/** What feeds a shell or an interpreter, where nobody can read it as a script. */
function fedWith(node: Command, isCertain: IsCertain): readonly string[] {
  const words = wordsOf(node);
  const { changesShell, runsText } = programOf(words[0] ?? '');
  const isSourced = changesShell === true && runsText === true && words.some(isInput);
  if (isSourced) return ['What a shell is fed with is not known.'];
  const isFromFile = node.redirects.some(({ operator }) => operator === '<' || operator === '<>');
  if (isFromFile && readsScript(words)) return ['What is in the file that a shell is fed with is not known.'];
  const isFed = node.redirects.some(({ operator }) => operator.startsWith('<'));
  const isHanded = words.slice(1).some(isInputPath) && mayRunTexts(words[0] ?? '');
  if (isHanded) return [`What ${baseName(words[0] ?? '')} is fed with is not known.`];
  if (isFed && readsCode(words)) return [`What ${baseName(words[0] ?? '')} is fed with is not known.`];
  const texts = node.redirects.flatMap((redirect) => {
    if (redirect.type === 'HereDoc') return [redirect.body.text];
    return redirect.type === 'HereString' && redirect.target !== undefined ? [redirect.target.value] : [];
  });
  const isRead = texts.every(isCertain) || !words.some((word) => programOf(word).isShell === true);
  return isRead ? [] : ['What a shell is fed with cannot be read for certain.'];
}

/** A shell, also behind a wrapper, that takes its script from standard input. */
function readsScript(words: readonly string[]): boolean {
  const isShell = (word: string) => programOf(word.replace(/^--?[\w-]+=/, '')).isShell === true;
  const at = words.findIndex((word) => isShell(word) || programOf(word).feedsNames === 'commands');
  if (at === -1) return startsShell(words);
  const rest = words.slice(at + 1);
  if (programOf(words[at] ?? '').feedsNames === 'commands')
    return !rest.some((word) => /^(?:-\w*c|--c\w*(?:=.*)?)$/.test(word));
  return (
    !rest.includes('-c') &&
    rest.every(
      (word, index) => word.startsWith('-') || isInput(word) || rest[index - 1] === '-o' || rest.includes('-s'),
    )
  );
}

/** A wrapper that starts a shell of its own where it is given no command: `unshare`, `sudo -s`. */
function startsShell(words: readonly string[]): boolean {
  const { wraps, feedsNames } = programOf(words[0] ?? '');
  return wraps !== undefined && feedsNames === undefined && wrappedStarts(words).length === 0;
}

/** An interpreter that takes its code from standard input: it is given no file and no code. */
function readsCode(words: readonly string[]): boolean {
  if (!isFedCode(words)) return false;
  const rest = words.slice(interpreterAt(words) + 1);
  return rest.every((word) => (word.startsWith('-') && !INLINE.test(word)) || word === 'run' || isInput(word));
}
