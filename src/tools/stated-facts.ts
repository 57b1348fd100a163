import type { JsonObject } from '../contracts/json.ts';
import type { StatedFacts, ToolKind, ToolStatement } from '../contracts/permission.ts';

type Facts = NonNullable<ToolStatement['facts']>;

/** The call touches nothing but the session itself. */
export const sessionFacts: Facts = () => ({ kind: 'session' });

/** The call reads, or changes, the one file its input names. */
export function pathFacts(kind: 'read' | 'edit', key: string): Facts {
  return textFacts(kind, key, (path) => (kind === 'read' ? { kind, reads: [path] } : { kind, writes: [path] }));
}

/** Facts that follow from one text of the input; without it nothing can be said. */
export function textFacts(kind: ToolKind, key: string, facts: (value: string) => StatedFacts): Facts {
  return (input) => {
    const value = textOf(input[key]);
    return value === undefined || value === ''
      ? { kind, problem: `Its ${key} is missing or not a text.` }
      : facts(value);
  };
}

/** The call runs a command of a shell. */
export const commandFacts: Facts = (input, cwd) => {
  const facts = textFacts('shell', 'command', (command) => ({ kind: 'shell', command }))(input, cwd);
  const outside = textOf(input.outside_sandbox);
  const opens = textsOf(input.sandbox_write);
  return {
    ...facts,
    ...(outside === undefined || outside === '' ? {} : { outside }),
    ...(opens.length === 0 ? {} : { opens }),
  };
};

/** The call goes through a folder by a pattern. */
export function searchFacts(input: JsonObject, cwd: string): StatedFacts {
  const folder = input.path === undefined ? cwd : textOf(input.path);
  if (folder === undefined) return { kind: 'read', problem: 'Its path is not a text.' };
  // A pattern may itself lead out of the folder.
  const patterns = [textOf(input.pattern) ?? '', textOf(input.glob) ?? ''];
  const leads = patterns.filter((each) => /^[/~]|(?:^|\/)\.\.(?:\/|$)/.test(each));
  const starts = leads.map((each) => (/^[/~]/.test(each) ? fixedPart(each) : `${folder}/${fixedPart(each)}`));
  return { kind: 'read', reads: [folder, ...starts], searches: [folder] };
}

export function textOf(value: JsonObject[string]): string | undefined {
  return typeof value === 'string' ? value : undefined;
}

function textsOf(value: JsonObject[string]): readonly string[] {
  return [value].flat().flatMap((each) => textOf(each) ?? []);
}

/** The folders a pattern names before its first star. */
function fixedPart(pattern: string): string {
  const fixed = pattern.split(/[*?[{]/)[0] ?? '';
  return fixed === pattern ? pattern : fixed.replace(/[^/]*$/, '') || '/';
}
