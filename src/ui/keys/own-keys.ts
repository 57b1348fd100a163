import { nearest } from '../../lib/text/nearest.ts';
import { ACTION_NAMES, type ActionName, actionNamed } from './actions.ts';
import { DEFAULT_KEYS } from './keymap.ts';

/** The keys as they are to be, and what could not be done. */
export type OwnKeys = { readonly keys: Readonly<Record<string, ActionName>>; readonly problems: readonly string[] };

const MODIFIERS = ['ctrl', 'alt', 'shift'];
const NAMES = new Set(
  'enter escape tab space backspace delete insert home end pageup pagedown up down left right f1 f2 f3 f4'.split(' '),
);
const SPELLINGS: Readonly<Record<string, string>> = {
  control: 'ctrl',
  meta: 'alt',
  option: 'alt',
  return: 'enter',
  esc: 'escape',
  del: 'delete',
};
/** Nobody can go on without these: as long as nothing else is bound to them, they keep their keys. */
const NEEDED: readonly ActionName[] = ['send', 'escape', 'interrupt', 'delete-left'];

/** The default keys with a person's own over them: `"ctrl+k": "send"`, `"ctrl+x t": "tasks"`, `"ctrl+s": "none"`. */
export function ownKeys(own: Readonly<Record<string, string>>): OwnKeys {
  const keys: Record<string, ActionName> = { ...DEFAULT_KEYS };
  const problems: string[] = [];
  const said = new Map<string, string>();
  for (const [written, action] of Object.entries(own)) {
    const chord = readChord(written);
    if (chord === undefined) {
      problems.push(
        `There is no key "${written}". Keys look like ctrl+k, alt+enter, f2, or "ctrl+x t" for two in a row.`,
      );
      continue;
    }
    const before = said.get(chord);
    if (before !== undefined && before !== action) {
      problems.push(`${chord} is bound twice, to ${before} and to ${action}; the second counts.`);
    }
    said.set(chord, action);
    const name = actionNamed(action);
    if (name !== undefined) keys[chord] = name;
    else if (action === 'none') delete keys[chord];
    else problems.push(unknownAction(chord, action));
  }
  return { keys, problems: [...problems, ...prefixProblems(keys, said), ...needed(keys)] };
}

function unknownAction(chord: string, action: string): string {
  const meant = nearest(action, ACTION_NAMES);
  return `${chord}: there is no action "${action}".${meant === undefined ? '' : ` Did you mean ${meant}?`}`;
}

/** A key cannot both do something and begin two keys: what was said by hand wins. */
function prefixProblems(keys: Record<string, ActionName>, said: ReadonlyMap<string, string>): readonly string[] {
  const problems: string[] = [];
  for (const chord of Object.keys(keys)) {
    const [first = '', second] = chord.split(' ');
    const alone = keys[first];
    if (second === undefined || alone === undefined) continue;
    const loser = said.has(chord) || !said.has(first) ? first : chord;
    problems.push(`${first} is bound to ${alone} and begins "${chord}"; "${loser}" is left out.`);
    delete keys[loser];
  }
  return problems;
}

function needed(keys: Record<string, ActionName>): readonly string[] {
  return NEEDED.filter((name) => !Object.values(keys).includes(name)).map((name) => {
    const chord = Object.keys(DEFAULT_KEYS).find((key) => DEFAULT_KEYS[key] === name) ?? '';
    keys[chord] = name;
    return `Nothing would be bound to ${name} any more, so ${chord} stays.`;
  });
}

/** The canonical spelling, modifiers in the order keys are told; `undefined` for what is no key. */
function readChord(written: string): string | undefined {
  const parts = written.trim().split(/\s+/);
  if (parts.length > 2) return undefined;
  const read = parts.map(readKey);
  const [first, second] = read;
  if (first === undefined || (parts.length === 2 && second === undefined)) return undefined;
  // A letter alone is text, and must stay so.
  return isText(first) ? undefined : read.join(' ');
}

function readKey(written: string): string | undefined {
  const parts = written === '+' ? ['+'] : written.split(/\+(?=.)/);
  const name = respelled(parts.at(-1) ?? '');
  const held = new Set(parts.slice(0, -1).map(respelled));
  if ([...held].some((modifier) => !MODIFIERS.includes(modifier))) return undefined;
  if (!NAMES.has(name) && [...name].length !== 1) return undefined;
  // Terminals tell control characters without their case.
  const key = held.has('ctrl') ? name.toLowerCase() : name;
  return [...MODIFIERS.filter((modifier) => held.has(modifier)), key].join('+');
}

function respelled(part: string): string {
  const lower = [...part].length === 1 ? part : part.toLowerCase();
  return SPELLINGS[lower] ?? lower;
}

function isText(chord: string): boolean {
  return [...chord].length === 1 || chord === 'space';
}
