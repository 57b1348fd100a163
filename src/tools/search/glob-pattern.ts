/** A glob in the manner of .gitignore: without a slash it means a name at any depth, with one a path from the root. */
export function compileGlob(glob: string): (relativePath: string) => boolean {
  const bare = glob.replace(/^(\.?\/)+/, '').replace(/\/$/, '');
  const anchored = glob.startsWith('/') || glob.startsWith('./') || bare.includes('/');
  const suffix = /^(?:\*\*\/)?\*(\.[\w.-]+)$/.exec(bare)?.[1];
  // The commonest kind needs no expression.
  if (suffix !== undefined && !glob.startsWith('/') && !glob.startsWith('./')) return (file) => file.endsWith(suffix);
  const expression = new RegExp(`^${anchored ? '' : '(?:.*/)?'}${translate(bare)}$`, 'su');
  return (file) => expression.test(file);
}

function translate(glob: string): string {
  let out = '';
  let depth = 0;
  for (let at = 0; at < glob.length; at += 1) {
    const rest = glob.slice(at);
    const set = /^\[([!^]?)(\]?[^\]]*)\]/.exec(rest);
    const character = String.fromCodePoint(glob.codePointAt(at) ?? 0);
    if (/^\*\*\//.test(rest) && (at === 0 || glob[at - 1] === '/')) {
      out += '(?:.*/)?';
      at += 2;
    } else if (rest === '**' && (at === 0 || glob[at - 1] === '/')) {
      out += '.*';
      at += 1;
    } else if (character === '*') out += '[^/]*';
    else if (character === '?') out += '[^/]';
    else if (set !== null) {
      out += `[${set[1] === '' ? '' : '^'}${(set[2] ?? '').replace(/[\\\][]/g, '\\$&')}]`;
      at += set[0].length - 1;
    } else if (character === '{' && rest.includes('}')) {
      out += '(?:';
      depth += 1;
    } else if (character === '}' && depth > 0) {
      out += ')';
      depth -= 1;
    } else if (character === ',' && depth > 0) out += '|';
    else if (character === '\\' && at + 1 < glob.length) {
      at += 1;
      out += quote(glob[at] ?? '');
    } else {
      out += quote(character);
      at += character.length - 1;
    }
  }
  return out + ')'.repeat(depth);
}

function quote(character: string): string {
  return character.replace(/[.*+?^${}()|[\]\\/]/g, '\\$&');
}
