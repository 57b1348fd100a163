import { HIDDEN_CHARACTERS } from './hidden-characters.ts';

/**
 * `output`: what programs print; escape sequences vanish. `prompt`: what somebody decides on; nothing vanishes, what
 * would not show is spelled out. `line`: the same in one line, for names and titles.
 */
export type SanitizeProfile = 'output' | 'prompt' | 'line';

/** The one exit of foreign text to the screen. */
export function sanitize(text: string, profile: SanitizeProfile): string {
  if (profile === 'output') {
    const sanitizer = createSanitizer();
    return sanitizer.push(text) + sanitizer.end();
  }
  const spelled = foldRuns(spellOut(text.replaceAll('\r\n', '\n')));
  return profile === 'line' ? spelled.replaceAll('\n', '⏎').replaceAll('\t', ' ') : spelled;
}

const SUSPICIOUS = /[\u0000-\u0008\u000b-\u001f\u007f-\u009f\u202a-\u202e\u2066-\u2069]/;
const DIRECTIONS = /[\u202a-\u202e\u2066-\u2069]/g;

/** `output` for text that is drawn by us: nothing turns it around either, and what a carriage return hid stays hidden. */
export function sanitizeScreen(text: string): string {
  if (!SUSPICIOUS.test(text)) return text;
  const overwritten = text.replaceAll('\r\n', '\n').replace(/^.*\r(?!$)/gm, '');
  return sanitize(overwritten, 'output').replace(DIRECTIONS, '');
}

/** True when some character of the text does not show, or shows as something else. */
export function isConcealing(text: string): boolean {
  return spellOut(text.replaceAll('\r\n', '\n')) !== text.replaceAll('\r\n', '\n');
}

/** Beginning and end of a text too long to show, and how much is between them. */
export type Excerpt = { readonly text: string; readonly hiddenChars: number };

export function excerpt(text: string, keep: { readonly headChars: number; readonly tailChars: number }): Excerpt {
  const chars = [...text];
  const hiddenChars = chars.length - keep.headChars - keep.tailChars;
  if (hiddenChars <= 0) return { text, hiddenChars: 0 };
  const note = `… ${String(hiddenChars).replace(/\B(?=(?:\d{3})+$)/g, ' ')} characters hidden, press v …`;
  const head = chars.slice(0, keep.headChars).join('');
  return { text: `${head}\n${note}\n${chars.slice(chars.length - keep.tailChars).join('')}`, hiddenChars };
}

export type Sanitizer = { push(chunk: string): string; end(): string };

type State = 'text' | 'escape' | 'charset' | 'csi' | 'string' | 'string-escape' | 'return';

/** The output profile for text that arrives in pieces: a sequence may be cut anywhere. */
export function createSanitizer(): Sanitizer {
  let state: State = 'text';

  function step(char: string): string {
    const code = char.charCodeAt(0);
    if (code === 0x18 || code === 0x1a) {
      state = 'text';
      return '';
    }
    switch (state) {
      case 'return':
        state = 'text';
        return char === '\n' ? '\n' : step(char);
      case 'text':
        return plain(char, code);
      case 'escape':
        return afterEscape(char, code);
      case 'charset':
        if (code < 0x20 || code >= 0x30) state = 'text';
        return char === '\n' ? '\n' : '';
      case 'csi':
        if (code === 0x1b) state = 'escape';
        else if (char === '\n' || code > 0x7e) return leave(char, code);
        else if (code >= 0x40) state = 'text';
        return '';
      case 'string':
        if (code === 0x1b) state = 'string-escape';
        else if (code === 0x07 || code === 0x9c) state = 'text';
        // An unfinished string must not swallow the rest of the output.
        else if (char === '\n') return leave(char, code);
        return '';
      case 'string-escape':
        if (char === '\\') {
          state = 'text';
          return '';
        }
        return afterEscape(char, code);
      default:
        return '';
    }
  }

  function leave(char: string, code: number): string {
    state = 'text';
    return plain(char, code);
  }

  function plain(char: string, code: number): string {
    if (code === 0x1b) state = 'escape';
    else if (code === 0x9b) state = 'csi';
    else if (code === 0x90 || code === 0x98 || (code >= 0x9d && code <= 0x9f)) state = 'string';
    else if (code === 0x0d) state = 'return';
    else if (char === '\n' || char === '\t' || (code >= 0x20 && code < 0x7f) || code > 0x9f) return char;
    return '';
  }

  function afterEscape(char: string, code: number): string {
    if (char === '[') state = 'csi';
    else if (']PX^_'.includes(char)) state = 'string';
    else if (code === 0x1b) state = 'escape';
    else if (code >= 0x20 && code <= 0x2f) state = 'charset';
    else if (code < 0x20 || code > 0x7e) return leave(char, code);
    else state = 'text';
    return '';
  }

  return {
    push(chunk) {
      let clean = '';
      for (const char of chunk) clean += step(char);
      return clean;
    },
    end() {
      state = 'text';
      return '';
    },
  };
}

function spellOut(text: string): string {
  return text.replace(HIDDEN_CHARACTERS, (char, at: number) => {
    if (char === '\ufe0f' && /\p{Extended_Pictographic}$/u.test(text.slice(Math.max(0, at - 2), at))) return char;
    return `<U+${(char.codePointAt(0) ?? 0).toString(16).toUpperCase().padStart(4, '0')}>`;
  });
}

/** Long runs push text out of sight, so they are counted instead of drawn. */
function foldRuns(text: string): string {
  return text
    .replace(/[ \t]{21,}/g, (run) => ` ⟨${run.length} spaces⟩ `)
    .replace(/\n(?:[ \t]*\n){4,}/g, (run) => `\n⟨${run.split('\n').length - 2} blank lines⟩\n`);
}
