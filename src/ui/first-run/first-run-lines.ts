import type { TrustEffect } from '../../contracts/face/trust.ts';
import { sanitize } from '../../lib/text/sanitize.ts';
import { type LogicalLine, plain, proseLine, terminalLine, toned } from '../text/line.ts';
import { type FirstRunState, localModels } from './first-run-state.ts';

const MOST_MODELS = 9;

/** What the first screen asks, in this order. */
export type FirstRunTopic = 'trust' | 'bypass' | 'takeOver' | 'model';

/** The words of the first screen by what they are about; what can be pressed stands before what it does. */
export function headLines({ question }: FirstRunState): readonly LogicalLine[] {
  return [
    terminalLine({ text: `ouro ${question.version}`, style: { bold: true } }),
    terminalLine(toned('dim', 'Folder  '), plain(sanitize(question.folder, 'prompt'))),
  ];
}

/** What is asked besides trust, as far as it is open. */
export function topicLines(state: FirstRunState) {
  const topics = [
    { topic: 'bypass', lines: bypassLines(state) },
    { topic: 'takeOver', lines: offerLines(state) },
    { topic: 'model', lines: sourceLines(state) },
  ] as const;
  return topics.filter(({ lines }) => lines.length > 0);
}

/** The way out, and why the last key had no effect. */
export function footLines(state: FirstRunState): readonly LogicalLine[] {
  return [...(state.page.kind === 'choices' ? [choice('n', 'leave')] : []), ...noteLines(state)];
}

function noteLines({ note }: FirstRunState): readonly LogicalLine[] {
  return note === '' ? [] : [proseLine(toned('warn', note))];
}

/** Whether this folder is trusted; `brings` is what a yes would be about. */
export function trustLines({ question: { trust, parent }, trust: answer, details }: FirstRunState) {
  if (trust === undefined || answer !== undefined) return undefined;
  const why = {
    new: 'This folder can bring instructions and commands of its own. Nothing of it was used yet.',
    changed: 'What this folder brings has changed since it was trusted:',
    'changed while asked':
      'What this folder brings has changed while you were asked, so nothing of it was trusted. It is now:',
  }[trust.state];
  const listed = details === 'shown' ? trust.effects : trust.effects.filter(({ kind }) => kind !== 'instructions');
  return {
    why: [proseLine(plain(why))],
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
  const label = '  found: ';
  const words = plain(sanitize(counts.join(', '), 'prompt'));
  return { ...proseLine(words), indent: label.length, label: toned('dim', label) };
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
    proseLine(
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
    proseLine(toned('warn', 'This run may skip all questions: '), plain('what the model proposes happens at once.')),
    choice('b', 'yes, on my own account (not asked again on this machine)'),
    choice('a', 'no, ask me as usual'),
  ];
}

function sourceLines(state: FirstRunState): readonly LogicalLine[] {
  if (state.question.key === 'found') return [];
  if (state.model !== undefined) return [terminalLine(toned('dim', 'Model   '), plain('chosen'))];
  const whose = state.question.places.length === 0 ? 'on' : 'of Anthropic on';
  return [
    proseLine(toned('dim', 'Model   '), plain(`There is no API key ${whose} this machine. Answers can come from:`)),
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

/** What has opened above the choices. */
export function pageLines({ page }: FirstRunState): readonly LogicalLine[] {
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
  return { ...proseLine(plain(words)), indent: 5, label: toned('accent', `  ${key}  `) };
}
