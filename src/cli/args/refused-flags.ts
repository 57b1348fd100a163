/**
 * Flags of hosts that narrow what a run may do or promise what is not kept here: to go on without them would be another
 * run than the one that was asked for.
 */
const REFUSED: Readonly<Record<string, string>> = {
  '--project-config-root':
    'ouro takes the settings of a project from the folder it works in. Start it there, or leave projectConfigRoot out.',
  '--session-mirror':
    'ouro keeps its sessions in its own folder and mirrors them nowhere. Leave sessionStore out; "ouro sessions export" copies a session.',
  '--resume-drops-turn':
    'Resume rejected by --resume-drops-turn: ouro does not check which turn a resume leaves behind. Resume without it.',
  '--sdk-url': 'ouro speaks with its host over stdin and stdout alone.',
};

/** Why a run with these unknown flags must not begin; `undefined` when they may be left out. */
export function refusedFlag(unknown: readonly string[]): string | undefined {
  for (const word of unknown) {
    const name = word.split('=')[0] ?? '';
    if (Object.hasOwn(REFUSED, name)) return `Option ${name}: ${REFUSED[name]}`;
  }
  return undefined;
}
