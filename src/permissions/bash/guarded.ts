import { writtenByOptions } from './possible/write-words.ts';
import { isUnknownProgram, programOf } from './programs.ts';

/** Options that mean the same with most programs: what to run, what to load, by which description, where to write. */
const USUAL =
  'exec eval command cmd shell script-shell rsh config config-file config-env conf rcfile rc-file init-file env-file require import preload loader plugin plugins plugin-dir rulesdir resolve-plugins-relative-to module-path upload-pack receive-pack toolexec vettool wrapper runner pre pager editor post-renderer to-command use-compress-program compress-program checkpoint-action filter-command output output-file output-document output-dir out-dir outdir outfile';
const OPTIONS = USUAL.split(' ').map((name) => `--${name}`);
const MIN_ABBREVIATED = 5;

/**
 * Does a command hold a word that starts a program, changes how it works, or makes it write elsewhere? A rule for
 * everything that begins in some way does not cover that. `from`: the first word that the rule leaves open.
 */
export function isGuarded(argv: readonly string[], from: number): boolean {
  const [name = ''] = argv;
  const { guards = [], textOptions = [], runsAfter = [], outputs = [], walks, code } = programOf(name);
  const own = [...guards, ...textOptions, ...outputs, ...runsAfter.filter((option) => /^-[^-]|^--./.test(option))];
  const named = [...OPTIONS, ...own.flatMap((guard) => ofSub(argv, guard))];
  const dashes = argv.indexOf('--', from);
  const open = argv.slice(from, dashes === -1 ? undefined : dashes);
  // What is handed on behind that are options of another program.
  if (dashes !== -1 && guards.includes('--')) return true;
  if (code?.isPlain?.(argv.slice(1)) === false) return true;
  if (walks === true && open.some((word) => /^-(?:delete|f(?:ls|print))/.test(word))) return true;
  const written = isUnknownProgram(name) ? [] : writtenByOptions(argv).filter(({ word }) => word !== '/dev/null');
  if (written.some(({ word }) => open.some((each) => each.includes(word)))) return true;
  // Go and Java write long options with one dash or two, and put no letters together.
  const letters = own.some((option) => /^-\w\w/.test(option)) ? 'alone' : 'together';
  return open.some((word) => named.some((option) => isOption(word, option, letters)));
}

/** `clone:-u` is an option of one sub-command. */
function ofSub(argv: readonly string[], guard: string): readonly string[] {
  const [, sub, option] = /^([\w-]+):(-.*)$/.exec(guard) ?? [];
  if (option === undefined) return [guard];
  return sub !== undefined && argv.includes(sub) ? [option] : [];
}

/** Is the word this option: in full, cut short, with a value glued to it, or as a letter among others? */
function isOption(word: string, option: string, letters: 'alone' | 'together'): boolean {
  if (option === 'NAME=') return /^\w+[:+?!]*=/.test(word);
  if (option === '@') return word.startsWith('@');
  if (option === 'x:y' || option === 'x::y')
    return new RegExp(`^(?:--?[\\w-]+=)?[\\w.-]+${option.slice(1, -1)}[^:/]`).test(word);
  // `-p:x=y`, `/p:x`, `--config.x=y` are told by what stands before.
  const name = word
    .replace(/^\/(?=[A-Za-z]+(?::|$))/, '-')
    .replace(/=.*$/s, '')
    .replace(/^(-\w+):.*$/s, '$1');
  if (option.startsWith('--') && name.startsWith(`${option}.`)) return true;
  if (/^-[A-Z]$/.test(option) && word.startsWith(option)) return true;
  if (/^-\w$/.test(option) && letters === 'together') return new RegExp(`^-[A-Za-z]*${option.charAt(1)}`).test(word);
  if (!option.startsWith('--')) return name === option || name === `-${option}`;
  return name === option || (name.length >= MIN_ABBREVIATED && name.startsWith('--') && option.startsWith(name));
}
