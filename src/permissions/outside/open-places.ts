import type { Rule } from '../../contracts/permission.ts';
import { type DecisionContext, resolveIn } from '../paths/context.ts';
import { type Findings, type Need, ruleSays } from '../paths/finding.ts';
import { pathObjections } from '../paths/path-findings.ts';
import { isInside, type ResolvedPath } from '../paths/paths.ts';
import { systemInside } from '../paths/protected.ts';
import { OUTSIDE_WORD } from '../rules/families.ts';
import { openingProblem, openingWords } from '../rules/openings.ts';
import { formatRule } from '../rules/rules.ts';
import { asOfCommands, coverOfAll, type OpeningRule, openingObjections, openingRules } from './leave-sandbox.ts';

/** More than that is not one place. */
const MAX_PLACES = 10;

/**
 * A command that stays in the sandbox may ask for places to write: each needs a yes of its own, once or by a rule such
 * as `Outside(write:~/.cache/x)` or `Outside(npm:* write:~/.npm)`. What stays closed is not opened.
 */
export function openingSandbox(context: DecisionContext, found: Findings): Findings {
  const { facts, policy } = context;
  if (policy.sandbox === undefined || facts.outside !== undefined || facts.opens === undefined) return found;
  const { open, closed } = policy.sandboxPlaces?.() ?? { open: [], closed: [] };
  const isClosed = ({ real }: ResolvedPath) => closed.some((each) => isInside(real, each));
  const asked = facts.opens
    .map((path) => resolveIn(context, policy.cwd, path))
    .filter(
      (place) => place.problem !== undefined || isClosed(place) || !open.some((each) => isInside(place.real, each)),
    );
  const rules = openingRules(context);
  const judged = asked.map((place) => openingOf(context, place, rules, isClosed(place)));
  const many = {
    stage: 'breaker',
    verdict: 'deny',
    text: `No more than ${MAX_PLACES} places are opened at once.`,
  } as const;
  return {
    ...found,
    objections: [
      ...(asked.length > MAX_PLACES ? [many] : []),
      ...judged.flatMap(({ objections }) => objections),
      ...found.objections,
    ],
    needs: [...judged.map(({ need }) => need), ...found.needs],
    opens: asked.map(({ real }) => real),
  };
}

type Judged = { readonly objections: Findings['objections']; readonly need: Need };

function openingOf(
  context: DecisionContext,
  place: ResolvedPath,
  rules: readonly OpeningRule[],
  isClosed: boolean,
): Judged {
  const { facts } = context;
  const subject = shown(place);
  const why = place.problem ?? (isClosed ? CLOSED : tooMuch(place, context));
  const text = `It needs to write ${subject}, which the sandbox keeps as it is.`;
  const need = { kind: 'edit', subject, text, asks: 'to leave the sandbox' } as const;
  if (why !== undefined)
    return {
      objections: [{ stage: 'breaker', verdict: 'deny', subject, text: `${subject} is not opened: ${why}` }],
      need,
    };
  const speaking = rules.filter((rule) => speaksOf(context, rule, place));
  const left = asOfCommands(context, speaking);
  const cover = coverOf(left, speaking);
  const objections = [
    ...pathObjections(context, { tool: facts.tool, use: 'write', path: place }),
    ...openingObjections(context, left, speaking),
  ];
  if (cover !== undefined)
    return {
      objections,
      need: { ...need, text: `${text} ${ruleSays(cover)} lets it.`, cover: { by: 'rule', rule: cover } },
    };
  const words = openingWords({ opens: { kind: 'write', what: spelled(place, context) } });
  // A name that no rule can hold is asked about every time.
  if (openingProblem(words) !== undefined || words.includes('\n')) return { objections, need };
  const rule = formatRule(OUTSIDE_WORD, words);
  return {
    objections,
    need: { ...need, suggestion: { rule, covers: `writing ${place.real} from inside the sandbox` } },
  };
}

const CLOSED = 'it stays closed in every sandbox. What has to change it asks to run outside.';

/** What holds more than anybody means by one place. */
function tooMuch({ real }: ResolvedPath, context: DecisionContext): string | undefined {
  const homes = [context.policy.home, resolveIn(context, '/', '~').real];
  const held = homes.some((home) => isInside(home, real)) ? 'all of your home folder' : systemInside(real);
  return held === undefined ? undefined : `it holds ${held}. Name the place below it.`;
}

/** For any command, or for all those of the line. */
function coverOf(left: Findings, speaking: readonly OpeningRule[]): Rule | undefined {
  const plain = speaking.find(
    ({ rule, commands }) => rule.behavior === 'allow' && rule.problem === undefined && commands === undefined,
  );
  return plain?.rule ?? coverOfAll(left);
}

/** A yes only where the place really is; a no also by its spelling, and where it is a part of what would be opened. */
function speaksOf(context: DecisionContext, { rule, opens }: OpeningRule, place: ResolvedPath): boolean {
  if (opens.kind === 'all') return true;
  if (opens.kind === 'host') return false;
  const named = opens.what.replace(/\/\*\*$/, '').replace(/(?<=.)\/+$/, '');
  const { lexical, real } = resolveIn(context, '/', named);
  const home = resolveIn(context, '/', '~').real;
  if (rule.behavior === 'allow')
    return [lexical, named.startsWith('~') ? `${home}${named.slice(1)}` : lexical].some((each) =>
      isInside(place.real, each),
    );
  const both = [lexical, real];
  return [place.lexical, place.real].some((path) => both.some((each) => isInside(path, each) || isInside(each, path)));
}

/** As people write it: from home, where it is below that. */
function spelled({ real }: ResolvedPath, context: DecisionContext): string {
  const home = resolveIn(context, '/', '~').real;
  return home !== '/' && isInside(real, home) ? `~${real.slice(home.length)}` : real;
}

function shown({ lexical, real }: ResolvedPath): string {
  return real === lexical ? lexical : `${lexical} (really ${real})`;
}
