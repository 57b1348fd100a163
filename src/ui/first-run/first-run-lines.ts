import type { TrustEffect } from '../../contracts/face/trust.ts';
import { sanitize } from '../../lib/text/sanitize.ts';
import { type LogicalLine, plain, terminalLine, toned } from '../text/line.ts';
import { type FirstRunState, localModels } from './first-run-state.ts';

const MOST_MODELS = 9;

/** The first screen as lines; what can be pressed stands before what it does. */
export function firstRunLines(state: FirstRunState, rows: number): readonly LogicalLine[] {
  const { question, page, note } = state;
  const head = [
    terminalLine({ text: `ouro ${question.version}`, style: { bold: true } }),
    terminalLine(toned('dim', 'Folder  '), plain(sanitize(question.folder, 'prompt'))),
  ];
  const foot = note === '' ? [] : [terminalLine(toned('warn', note))];
  if (page.kind !== 'choices') return [...head, ...pageLines(state), ...foot];
  const source = [...bypassLines(state), ...offerLines(state), ...sourceLines(state)];
  const room = rows - head.length - source.length - foot.length - 6;
  return [...head, ...trustLines(state, Math.max(1, room)), ...source, choice('n', 'leave'), ...foot];
}

function trustLines({ question: { trust, parent }, trust: answer, details }: FirstRunState, room: number) {
  if (trust === undefined || answer !== undefined) return [];
  const why =
    trust.state === 'changed'
      ? 'What this folder brings has changed since it was trusted:'
      : 'This folder can bring instructions and commands of its own. Nothing of it was used yet.';
  const said = details === 'shown' ? trust.effects.map(effectLine) : [foundLine(trust.effects)];
  const hidden = said.length - room;
  const shown = hidden > 0 ? said.slice(0, room) : said;
  return [
    terminalLine(plain(why)),
    ...shown,
    ...(hidden > 0 ? [terminalLine(toned('dim', `  ${hidden} more: ouro trust --show lists all`))] : []),
    ...(trust.effects.length === 0 ? [] : [choice('v', details === 'shown' ? 'fewer words' : 'look at them')]),
    choice('y', 'trust this folder'),
    ...(parent === undefined ? [] : [choice('p', `trust everything in ${sanitize(parent, 'prompt')}`)]),
    choice('r', 'go on without trust: nothing of the folder is read as instruction or run'),
  ];
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

function effectLine({ kind, text, file, line }: TrustEffect): LogicalLine {
  const place = `${file}${line === undefined ? '' : `:${line}`}`;
  return terminalLine(plain(`  ${kind}: ${sanitize(text, 'prompt')}`), toned('dim', `  ${sanitize(place, 'prompt')}`));
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
  return [
    terminalLine(toned('dim', 'Model   '), plain('There is no API key on this machine. Answers can come from:')),
    choice('d', 'the built-in demo: scripted, needs no key and no network'),
    choice('k', 'the API: paste a key (not shown, kept for you alone)'),
    choice('l', `a model on this machine: ${serverWords(state)}`),
    choice('u', 'another server that speaks the OpenAI protocol, by its address'),
  ];
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
        terminalLine(plain('Paste the API key. It is not shown, and kept in a file that only you can read.')),
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
