const NAMED: Readonly<Record<string, string>> = {
  enter: '\r',
  esc: '\x1b',
  tab: '\t',
  space: ' ',
  backspace: '\x7f',
  delete: '\x1b[3~',
  insert: '\x1b[2~',
  pageup: '\x1b[5~',
  pagedown: '\x1b[6~',
  f1: '\x1bOP',
  f2: '\x1bOQ',
  f3: '\x1bOR',
  f4: '\x1bOS',
};
const LETTERED: Readonly<Record<string, string>> = { up: 'A', down: 'B', right: 'C', left: 'D', home: 'H', end: 'F' };
const CONTROL_SIGNS: Readonly<Record<string, number>> = {
  '@': 0,
  space: 0,
  '[': 27,
  '\\': 28,
  ']': 29,
  '^': 30,
  _: 31,
  '/': 31,
  '-': 31,
};

/** Returns the bytes xterm sends for a key such as `enter`, `ctrl+c`, `shift+tab`, `alt+b` or `ctrl+left`. */
export function bytesOfKey(key: string, cursorKeys: 'normal' | 'application' = 'normal'): string {
  const parts = key === '+' ? ['+'] : key.split('+');
  const name = parts.at(-1) ?? '';
  const held = new Set(parts.slice(0, -1));
  const letter = LETTERED[name];
  if (letter !== undefined) return cursorKey(letter, held, cursorKeys);
  if (key === 'shift+tab') return '\x1b[Z';
  // Plain xterm cannot tell these two from enter; this is what terminals with extended keys send.
  if (key === 'shift+enter') return '\x1b[13;2u';
  if (key === 'ctrl+enter') return '\x1b[13;5u';
  if (held.delete('alt')) return `\x1b${bytesOfKey([...held, name].join('+'), cursorKeys)}`;
  if (held.has('ctrl')) return control(name, key);
  const bytes = NAMED[name] ?? ([...name].length === 1 ? name : undefined);
  if (bytes === undefined || held.size > 0) throw new Error(`No bytes are known for the key ${key}.`);
  return bytes;
}

function cursorKey(letter: string, held: ReadonlySet<string>, cursorKeys: 'normal' | 'application'): string {
  const modifier = 1 + (held.has('shift') ? 1 : 0) + (held.has('alt') ? 2 : 0) + (held.has('ctrl') ? 4 : 0);
  if (modifier > 1) return `\x1b[1;${modifier}${letter}`;
  return cursorKeys === 'application' ? `\x1bO${letter}` : `\x1b[${letter}`;
}

function control(name: string, key: string): string {
  if (/^[a-z]$/.test(name)) return String.fromCharCode(name.charCodeAt(0) - 96);
  if (name === 'backspace') return '\b';
  const code = CONTROL_SIGNS[name];
  if (code === undefined) throw new Error(`No bytes are known for the key ${key}.`);
  return String.fromCharCode(code);
}
