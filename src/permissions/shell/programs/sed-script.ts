/** The arguments of sed: the whole script, the indexes of the files, and whether it changes them. */
export type SedArgs = { readonly script: string; readonly files: readonly number[]; readonly isInPlace: boolean };

const LONG_OPTION =
  /^--(?:quiet|silent|regexp-extended|separate|unbuffered|null-data|posix|debug|sandbox|in-place(?:=.*)?|line-length=\d+)$/;
/** `-n`, `-nE`, `-ne script`, `-escript`, `-i.bak`. */
const SHORT_OPTION = /^-([nErsuz]*)(?:(e)(.*)|(i)([^/]*))?$/s;

/** Parses the arguments after `sed`, with options anywhere; `undefined` if one is unknown. */
export function parseSedArgs(args: readonly string[]): SedArgs | undefined {
  const scripts: string[] = [];
  const operands: number[] = [];
  let isInPlace = false;
  let isAfterDashes = false;
  for (let index = 0; index < args.length; index += 1) {
    const arg = args[index] ?? '';
    const [, script] = /^--expression=(.*)$/s.exec(arg) ?? [];
    const [, , isScript, gluedScript, inPlaceFlag] = SHORT_OPTION.exec(arg) ?? [];
    if (isAfterDashes || arg === '-' || !arg.startsWith('-')) operands.push(index);
    else if (arg === '--') isAfterDashes = true;
    else if (script !== undefined) scripts.push(script);
    else if (arg === '--expression' || (isScript !== undefined && gluedScript === '')) {
      index += 1;
      if (index >= args.length) return undefined;
      scripts.push(args[index] ?? '');
    } else if (isScript !== undefined) scripts.push(gluedScript ?? '');
    else if (!SHORT_OPTION.test(arg) && !LONG_OPTION.test(arg)) return undefined;
    if (inPlaceFlag !== undefined || arg.startsWith('--in-place')) isInPlace = true;
  }
  const [first, ...rest] = operands;
  if (scripts.length > 0) return { script: scripts.join('\n'), files: operands, isInPlace };
  return first === undefined ? undefined : { script: args[first] ?? '', files: rest, isInPlace };
}

/** A suffix of the backup, which may lead to any file. */
const BACKUP_SUFFIX = /^(?:-[nErsuz]*i.|--in-place=)/s;

/** Returns the indexes of the files that `sed -i` edits, if its script only changes lines and it keeps no backup. */
export function findSedEditedFileIndexes(args: readonly string[]): readonly number[] | undefined {
  const parsed = parseSedArgs(args);
  if (parsed?.isInPlace !== true || args.some((arg) => BACKUP_SUFFIX.test(arg))) return undefined;
  return isHarmlessSedScript(parsed.script) ? parsed.files : undefined;
}

const ADDRESS = /^(?:\d+(?:~\d+)?|\$|[+~]\d+)/;
const COMMAND_END = /^[ \t]*(?:[;\n}#]|$)/;
const SINGLE_COMMAND = /^[pPdDgGhHnNxz=F]/;
const NUMBER_COMMAND = /^[lLqQ][ \t]*\d*/;
const LABEL_COMMAND = /^(?:[btT][ \t]*\w*|:[ \t]*\w+)/;
/** Text up to the end of its last line; a backslash continues it on the next line. */
const TEXT_COMMAND = /^[aic](?:[^\n\\]|\\[\s\S])*/;
const SUBSTITUTE_FLAGS = /^[gpiIMm\d]*/;

/** True for a script of GNU sed that only changes and prints lines, without programs and files. */
export function isHarmlessSedScript(script: string): boolean {
  let rest = script;
  let depth = 0;
  while (rest !== '') {
    const trimmed = rest.replace(/^(?:[\s;]|#[^\n]*(?=\n|$))+/, '');
    if (trimmed === '') break;
    const command = skipAddresses(trimmed);
    if (command === undefined) return false;
    const [name = ''] = command;
    if (name === '{' || name === '}') {
      depth += name === '{' ? 1 : -1;
      rest = command.slice(1);
      if (depth < 0 || (name === '}' && !COMMAND_END.test(rest))) return false;
      continue;
    }
    const next = skipCommand(command);
    if (next === undefined || !COMMAND_END.test(next)) return false;
    rest = next;
  }
  return depth === 0;
}

/** Returns the text after the addresses of a command and their `!`. */
function skipAddresses(text: string): string | undefined {
  const first = skipAddress(text);
  if (first === undefined) return undefined;
  const comma = first === text ? null : /^\s*,\s*/.exec(first);
  const second = comma === null ? first : skipAddress(first.slice(comma[0].length));
  if (second === undefined || (comma !== null && second === first.slice(comma[0].length))) return undefined;
  return second.replace(/^[ \t]*(?:![ \t!]*)?/, '');
}

function skipAddress(text: string): string | undefined {
  const opening = /^(?:\/|\\([^\n\\]))/.exec(text);
  if (opening === null) return text.replace(ADDRESS, '');
  const end = findEnd(text.slice(opening[0].length), opening[1] ?? '/', 'pattern');
  return end === undefined ? undefined : text.slice(opening[0].length + end).replace(/^[IM]*/, '');
}

function skipCommand(text: string): string | undefined {
  const [name = '', delimiter = ''] = text;
  if (name !== 's' && name !== 'y') {
    const match = [SINGLE_COMMAND, NUMBER_COMMAND, LABEL_COMMAND, TEXT_COMMAND]
      .map((form) => form.exec(text)?.[0])
      .find((matched) => matched);
    return match === undefined ? undefined : text.slice(match.length);
  }
  if (/^[\s;\\\w]?$/.test(delimiter)) return undefined;
  const patternEnd = findEnd(text.slice(2), delimiter, name === 's' ? 'pattern' : 'text');
  if (patternEnd === undefined) return undefined;
  const replacementEnd = findEnd(text.slice(2 + patternEnd), delimiter, 'text');
  if (replacementEnd === undefined) return undefined;
  const rest = text.slice(2 + patternEnd + replacementEnd);
  return name === 's' ? rest.replace(SUBSTITUTE_FLAGS, '') : rest;
}

/** Returns the index after the next unescaped delimiter; one in brackets is refused, as versions of sed differ. */
function findEnd(text: string, delimiter: string, kind: 'pattern' | 'text'): number | undefined {
  for (let index = 0; index < text.length; index += 1) {
    const character = text.charAt(index);
    if (character === delimiter) return index + 1;
    if (character === '\\') index += 1;
    else if (character === '\n') return undefined;
    else if (character === '[' && kind === 'pattern') {
      const bracket = /^\[\^?\]?(?:(?:[^[\]\n]|\[(?![:.=]))*\[[:.=][^\]\n]*[:.=]\])*[^\]\n]*\]/.exec(
        text.slice(index),
      )?.[0];
      if (bracket === undefined || bracket.includes(delimiter)) return undefined;
      index += bracket.length - 1;
    }
  }
  return undefined;
}
