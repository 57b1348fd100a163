import { parse } from 'unbash';
import type { CallRisk, ToolFacts } from '../contracts/permission.ts';
import { tooMuchToRead } from './bash/check-bytes.ts';
import { type Reached, readPossible } from './bash/possible/read-possible.ts';
import { bringsFromNetwork, stakesOf } from './bash/programs/stakes.ts';
import { programOf } from './bash/programs.ts';
import { baseName } from './bash/words.ts';

const GRAVEST_FIRST = ['deletes', 'publishes', 'runs_download', 'runs_project', 'network'] as const;
const MOST_NAMED = 3;
/** Words by which an interpreter is given its code, or only says what it is. */
const OWN_CODE = /^(?:-[a-z]*[cep]|-[vVh]|--(?:eval|print|command|version|help))$/;
const RUNS_DOWNLOAD: CallRisk = { kind: 'runs_download', text: 'runs what it gets from the network' };
const RUNS_PROJECT: CallRisk = { kind: 'runs_project', text: 'runs code of this project' };

/** What a call puts at stake, in words for whoever is asked, the gravest first. It decides nothing. */
export function callRisks({ kind, command }: Pick<ToolFacts, 'kind' | 'command'>): readonly CallRisk[] {
  if (kind !== 'shell' || command === undefined || tooMuchToRead(command) !== undefined) return [];
  const { commands } = readPossible(parse(command));
  const own = commands.flatMap(ownRisks);
  const risks = runsDownload(commands) ? [...own.filter((risk) => risk !== RUNS_PROJECT), RUNS_DOWNLOAD] : own;
  const distinct = [...new Map(risks.map((risk) => [risk.text, risk])).values()];
  return GRAVEST_FIRST.flatMap((one) => distinct.filter((risk) => risk.kind === one));
}

function ownRisks({ argv }: Reached): readonly CallRisk[] {
  const [word = '', ...args] = argv;
  const name = baseName(word);
  const isScript = word.includes('/') && !/^\/(?:usr|s?bin|opt)\//.test(word);
  const runsFile = runsCode(name) && args.length > 0 && !args.some((word) => OWN_CODE.test(word));
  return [
    ...(programOf(name).deletes === true ? [deleting(args)] : []),
    ...stakesOf(name, args).map(({ kind, text }): CallRisk => ({ kind, text })),
    ...(isScript || runsFile ? [RUNS_PROJECT] : []),
  ];
}

/** By name, as far as there are few; a name that another program fills in is none. */
function deleting(args: readonly string[]): CallRisk {
  const end = args.indexOf('--');
  const named = args.filter(
    (word, at) => word !== '--' && word !== '' && (!word.startsWith('-') || (end >= 0 && at > end)),
  );
  const known = named.filter((word) => word !== '{}' && word !== '+' && word !== ';');
  if (known.length === 0) return { kind: 'deletes', text: 'deletes files' };
  const more = known.length > MOST_NAMED ? ` and ${known.length - MOST_NAMED} more` : '';
  return { kind: 'deletes', text: `deletes ${known.slice(0, MOST_NAMED).join(', ')}${more}` };
}

/** `curl … | sh`, `sh -c "$(curl …)"`, and a file that is brought and run in one line. */
function runsDownload(commands: readonly Reached[]): boolean {
  const names = commands.map(({ argv }) => baseName(argv[0] ?? ''));
  return names.some(bringsFromNetwork) && names.some(runsCode);
}

function runsCode(name: string): boolean {
  const { isShell, code } = programOf(name);
  return isShell === true || code !== undefined;
}
