import type { InputEvent } from '../keys/input-event.ts';

/** Light or dark, by the relative luminance of what the terminal has answered. */
export function backgroundOf(event: Extract<InputEvent, { type: 'background' | 'scheme' }>): 'dark' | 'light' {
  if (event.type === 'scheme') return event.scheme;
  const [red, green, blue] = [event.red, event.green, event.blue].map(linear);
  return 0.2126 * (red ?? 0) + 0.7152 * (green ?? 0) + 0.0722 * (blue ?? 0) > 0.5 ? 'light' : 'dark';
}

function linear(channel: number): number {
  return channel <= 0.04045 ? channel / 12.92 : ((channel + 0.055) / 1.055) ** 2.4;
}
