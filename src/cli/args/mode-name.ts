/** What is told where a host or a person chooses the mode `auto`. */
export const AUTO_WORDS = 'Mode auto: nothing judges calls in your place here, so what no rule decides is asked.';

/** The mode that a name stands for: `auto` asks for whatever no rule decides, which is the ordinary mode. */
export function modeNamed(name: string): string {
  return name === 'auto' ? 'default' : name;
}
