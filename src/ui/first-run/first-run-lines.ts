import type { TrustEffect } from '../../contracts/face/trust.ts';
import { sanitize } from '../../lib/text/sanitize.ts';
import { type LogicalLine, plain, terminalLine, toned } from '../text/line.ts';
import { liveRows } from '../text/render-lines.ts';
import { type FirstRunState, localModels } from './first-run-state.ts';

const MOST_MODELS = 9;

/** The first screen as lines; what can be pressed stands before what it does. Each line takes one row. */
export function firstRunLines(state: FirstRunState): readonly LogicalLine[] {
  const { head, question, rest } = partsOf(state);
  if (question === undefined) return [...head, ...rest];
  const { top, room, rows } = windowOf(state);
  const end = top + room;
  const more = rows.length > room ? [terminalLine(toned('warn', moreWords(state, rows.length, end)))] : [];
  return [...head, ...question.why, ...rows.slice(top, end), ...more, ...question.choices, ...rest];
}

/** The same screen with what is in sight now counted as seen. */
export function withSeen(state: FirstRunState): FirstRunState {
  const { top, room } = windowOf(state);
  return { ...state, top, seen: Math.max(state.seen, top + room) };
}

/** Was everything that a yes would be about in sight? */
export function isAllSeen(state: FirstRunState): boolean {
  return withSeen(state).seen >= windowOf(state).rows.length;
}

/** Goes on, or back, in what the folder brings, by as much as is seen at once. */
export function scrolled(state: FirstRunState, by: 'row' | 'page', way: 1 | -1): FirstRunState {
  const step = by === 'row' ? 1 : Math.max(1, windowOf(state).room - 1);
  return { ...state, top: state.top + way * step, note: '' };
}

/** The part of what the folder brings that is in sight. */
function windowOf(state: FirstRunState) {
  const { head, question, rest } = partsOf(state);
  const rows = question?.brings ?? [];
  const others = head.length + (question?.why.length ?? 0) + (question?.choices.length ?? 0) + rest.length;
  const free = state.size.rows - 1 - others;
  const room = rows.length <= free ? rows.length : Math.max(1, free - 1);
  return { rows, room, top: Math.max(0, Math.min(state.top, rows.length - room)) };
}

function moreWords({ top }: FirstRunState, rows: number, end: number): string {
  const place = `  rows ${top + 1} to ${Math.min(end, rows)} of ${rows}`;
  return end < rows ? `${place}: down or space goes on, a yes counts when all was in sight` : `${place}, up goes back`;
}

function partsOf(state: FirstRunState) {
  const inRows = (lines: readonly LogicalLine[]) => rowsOf(lines, state.size.columns);
  const { question, page, note } = state;
  const head = inRows([
    terminalLine({ text: `ouro ${question.version}`, style: { bold: true } }),
    terminalLine(toned('dim', 'Folder  '), plain(sanitize(question.folder, 'prompt'))),
  ]);
  const foot = note === '' ? [] : [terminalLine(toned('warn', note))];
  if (page.kind !== 'choices') return { head, question: undefined, rest: inRows([...pageLines(state), ...foot]) };
  const source = [...bypassLines(state), ...offerLines(state), ...sourceLines(state)];
  const asked = trustLines(state);
  return {
    head,
    question: asked && { why: inRows(asked.why), brings: inRows(asked.brings), choices: inRows(asked.choices) },
    rest: inRows([...source, choice('n', 'leave'), ...foot]),
  };
}

/** Nothing that is agreed to is cut: what is longer than a row takes several. The last two columns stay free. */
function rowsOf(lines: readonly LogicalLine[], columns: number): readonly LogicalLine[] {
  if (columns === Number.POSITIVE_INFINITY) return lines;
  return liveRows(lines, Math.max(1, columns - 2)).map((row) => terminalLine(...row));
}

function trustLines({ question: { trust, parent }, trust: answer, details }: FirstRunState) {
  if (trust === undefined || answer !== undefined) return undefined;
  const why =
    trust.state === 'changed'
      ? 'What this folder brings has changed since it was trusted:'
      : 'This folder can bring instructions and commands of its own. Nothing of it was used yet.';
  const listed = details === 'shown' ? trust.effects : trust.effects.filter(({ kind }) => kind !== 'instructions');
  return {
    why: [terminalLine(plain(why))],
    brings: [foundLine(trust.effects), ...listed.map((effect) => effectLine(effect, details))],
    choices: [
      ...(trust.effects.length === 0
        ? []
        : [choice('v', details === 'shown' ? 'fewer words' : 'look at them with their places')]),
      choice('y', 'trust this folder'),
      ...(parent === undefined ? [] : [choice('p', `trust everything in ${sanitize(parent, 'prompt')}`)]),
      choice('r', 'go on without trust: nothing of the folder is read as instruction or run'),
    ],
  };
}

function foundLine(effects: readonly TrustEffect[]): LogicalLine {
  if (effects.length === 0) return terminalLine(toned('dim', '  found: a git repository'));
  const kinds = Map.groupBy(effects, ({ kind }) => kind);
  const counts = [...kinds].map(([kind, list]) =>
    kind === 'instructions'
      ? list.map(({ text }) => text.replace(' is read to the model', '')).join(', ')
      : `${list.length} ${kind}${list.length === 1 ? '' : 's'}`,
  );
  return terminalLine(toned('dim', '  found: '), plain(sanitize(counts.join(', '), 'prompt')));
}

function effectLine({ kind, text, file, line }: TrustEffect, details: FirstRunState['details']): LogicalLine {
  const words = plain(`${kind}: ${sanitize(text, 'prompt').replaceAll('\n', '⏎')}`);
  const place = `  ${file}${line === undefined ? '' : `:${line}`}`;
  const where = details === 'shown' ? [toned('dim', sanitize(place, 'prompt'))] : [];
  return { ...terminalLine(words, ...where), indent: 2 };
}

function offerLines({ question: { offer }, takeOver }: FirstRunState): readonly LogicalLine[] {
  if (offer === undefined || takeOver !== undefined) return [];
  return [
    terminalLine(
      plain(`Claude Code has settings of yours in ${sanitize(offer.from, 'prompt')}: ${offer.holds.join(', ')}.`),
      toned('dim', ' None was read.'),
    ),
    choice('c', `copy them to ${sanitize(offer.to, 'prompt')}; what is there already stays`),
    choice('x', 'go on without them, and do not ask again (ouro settings import does it later)'),
  ];
}

function bypassLines({ question, bypass }: FirstRunState): readonly LogicalLine[] {
  if (question.bypass === 'settled' || bypass !== undefined) return [];
  return [
    terminalLine(toned('warn', 'This run may skip all questions: '), plain('what the model proposes happens at once.')),
    choice('b', 'yes, on my own account (not asked again on this machine)'),
    choice('a', 'no, ask me as usual'),
  ];
}

function sourceLines(state: FirstRunState): readonly LogicalLine[] {
  if (state.question.key === 'found') return [];
  if (state.model !== undefined) return [terminalLine(toned('dim', 'Model   '), plain('chosen'))];
  const whose = state.question.places.length === 0 ? 'on' : 'of Anthropic on';
  return [
    terminalLine(toned('dim', 'Model   '), plain(`There is no API key ${whose} this machine. Answers can come from:`)),
    ...placeLines(state),
    choice('d', 'the built-in demo: scripted, needs no key and no network'),
    choice('k', 'the API: paste a key of Anthropic, OpenAI, Gemini … (not shown)'),
    choice('l', `a model on this machine: ${serverWords(state)}`),
    choice('u', 'another server that speaks the OpenAI protocol, by its address'),
  ];
}

function placeLines({ question: { places } }: FirstRunState): readonly LogicalLine[] {
  const names = places.map(({ label, source }) => `${label} (${source})`).join(', ');
  return places.length === 0 ? [] : [choice('o', `a place whose key was found: ${names}`)];
}

function serverWords(state: FirstRunState): string {
  if (state.servers === 'looking') return 'looking …';
  if (localModels(state).length === 0) return 'none answers (Ollama, LM Studio, llama.cpp, vLLM)';
  return state.servers
    .filter(({ models }) => models.length > 0)
    .map(({ name, models }) => `${name} (${sanitize(models.slice(0, 3).join(', '), 'prompt')})`)
    .join(', ');
}

function pageLines({ page }: FirstRunState): readonly LogicalLine[] {
  switch (page.kind) {
    case 'key':
      return [
        terminalLine(
          plain('Paste an API key. Whose it is shows in how it begins. It is not shown, and kept for you alone.'),
        ),
        terminalLine(toned('accent', '> '), plain('*'.repeat(Math.min(40, page.text.length)))),
        terminalLine(toned('dim', 'enter keeps it, esc goes back')),
      ];
    case 'address':
      return [
        terminalLine(plain('The address of the server, for example http://127.0.0.1:8080/v1')),
        terminalLine(toned('accent', '> '), plain(page.text)),
        terminalLine(toned('dim', 'enter asks it for its models, esc goes back')),
      ];
    case 'models':
      return [
        terminalLine(plain('Which model?')),
        ...page.models.slice(0, MOST_MODELS).map((model, at) => choice(String(at + 1), sanitize(model, 'prompt'))),
        ...(page.models.length > MOST_MODELS
          ? [terminalLine(toned('dim', `  ${page.models.length - MOST_MODELS} more: ouro --model <name>`))]
          : []),
        terminalLine(toned('dim', 'esc goes back')),
      ];
    default:
      return [];
  }
}

function choice(key: string, words: string): LogicalLine {
  return terminalLine(toned('accent', `  ${key}  `), plain(words));
}
