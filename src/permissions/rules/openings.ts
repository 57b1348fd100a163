/** What a rule for leaving the sandbox speaks of: which commands (none: any), and what is opened to them. */
export type Opening = {
  readonly commands?: string;
  readonly opens: { readonly kind: 'all' } | { readonly kind: 'write' | 'host'; readonly what: string };
};

/** `npm ci` (wholly outside), `write:~/.npm` (a place for any command), `npm:* write:~/.npm`, `npm:* host:npmjs.org`. */
export function readOpening(specifier: string | undefined): Opening {
  if (specifier === undefined) return { opens: { kind: 'all' } };
  // The first of the words counts: a name may hold the other one.
  const read = /^()(write|host):(\S.*)$/s.exec(specifier) ?? /^(.*?)\s+(write|host):(\S.*)$/s.exec(specifier);
  const [, before = '', kind, what = ''] = read ?? [];
  if (kind !== 'write' && kind !== 'host') return { commands: specifier, opens: { kind: 'all' } };
  return { ...(before === '' ? {} : { commands: before }), opens: { kind, what } };
}

/** The specifier that `readOpening` reads back. */
export function openingWords({ commands, opens }: Opening): string {
  const words = opens.kind === 'all' ? [] : [`${opens.kind}:${opens.what}`];
  return [...(commands === undefined ? [] : [commands]), ...words].join(' ');
}

/** What is wrong with one; nothing for one that can be read. */
export function openingProblem(specifier: string): string | undefined {
  const { commands, opens } = readOpening(specifier);
  if (commands !== undefined && /^\s*(?::\*|\*)/.test(commands)) return 'The command is missing before the star.';
  if (opens.kind === 'write' && !/^(?:~(?=\/|$)|\/)/.test(opens.what))
    return 'The place is to be named from the root of the disk or from home: write:~/.cache/x.';
  if (opens.kind === 'write' && /[*?]/.test(opens.what.replace(/\/\*\*$/, '')))
    return 'A place is named without stars: all below it is meant.';
  if (opens.kind === 'host' && !/^(?:\*\.)?[\p{L}\p{M}\p{N}.-]+(?::\d{1,5})?$/u.test(opens.what))
    return 'The host is to be named as in host:example.com, host:*.example.com or host:example.com:443.';
  return undefined;
}
