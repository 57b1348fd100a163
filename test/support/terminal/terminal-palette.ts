const SIXTEEN = [
  '#000000',
  '#cd3131',
  '#0dbc79',
  '#c7b013',
  '#2472c8',
  '#bc3fbc',
  '#11a8cd',
  '#cccccc',
  '#767676',
  '#f14c4c',
  '#23d18b',
  '#e5d545',
  '#3b8eea',
  '#d670d6',
  '#29b8db',
  '#ffffff',
];

/** Converts a terminal colour to a CSS colour. */
export function rgbOf(colour: number, kind: 'rgb' | 'palette'): string {
  if (kind === 'rgb') return `#${colour.toString(16).padStart(6, '0')}`;
  const named = SIXTEEN[colour];
  if (named !== undefined) return named;
  if (colour >= 232) return hex([8 + (colour - 232) * 10, 8 + (colour - 232) * 10, 8 + (colour - 232) * 10]);
  const step = colour - 16;
  return hex(
    [Math.floor(step / 36), Math.floor(step / 6) % 6, step % 6].map((level) => (level === 0 ? 0 : 55 + level * 40)),
  );
}

function hex(levels: readonly number[]): string {
  return `#${levels.map((level) => level.toString(16).padStart(2, '0')).join('')}`;
}
