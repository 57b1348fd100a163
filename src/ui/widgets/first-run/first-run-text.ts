import type { TrustEffect } from '../../../contracts/frontend/first-run.ts';
import { formatCount } from '../../../lib/text/format.ts';
import { sanitize } from '../../../lib/text/sanitize.ts';
import {
  colored,
  createProseLine,
  createStyledLine,
  insertNoBreakSpaces,
  type LogicalLine,
  plain,
  type StyledSpan,
} from '../../text/line.ts';
import { type FirstRunScreenState, getOpenFirstRunStep, listLocalModels } from './first-run-state.ts';

const MAX_MODELS = 9;
/** Effects of one kind that the summary names. */
const MAX_NAMED = 4;

/** An option of the open question. Yes comes first, no comes last. */
export type FirstRunOption = { readonly key: string; readonly label: string };

/** The text of the open question or page. */
export type FirstRunText = {
  readonly title: string;
  readonly body: readonly LogicalLine[];
  readonly options: readonly FirstRunOption[];
  readonly keys: string;
};

/** Formats the open question or page. */
export function formatFirstRun(state: FirstRunScreenState): FirstRunText {
  switch (state.page.kind) {
    case 'key':
      return formatKeyPage(state, state.page.text);
    case 'address':
      return formatAddressPage(state.page.text);
    case 'models':
      return formatModelsPage(state.page.models);
    default:
      return formatQuestion(state);
  }
}

function formatQuestion(state: FirstRunScreenState): FirstRunText {
  switch (getOpenFirstRunStep(state)) {
    case 'trust':
      return formatTrust(state);
    case 'bypass':
      return {
        title: 'Run without permission prompts?',
        body: [
          createProseLine(
            plain('This run bypasses all permission prompts: the model edits files and runs commands without asking.'),
          ),
        ],
        options: [
          { key: 'y', label: "Yes, at my own risk, and don't ask again on this machine" },
          { key: 'n', label: 'No, ask me as usual' },
        ],
        keys: EXIT_KEYS,
      };
    case 'model':
      return formatModel(state);
    case 'takeOver':
      return formatOffer(state);
    default:
      return { title: 'Starting', body: [], options: [], keys: '' };
  }
}

const EXIT_KEYS = '↑↓ enter · esc exit';

const TRUST_TITLES = {
  new: 'Do you trust this folder?',
  changed: 'This folder has changed since you trusted it. Trust it again?',
  'changed-meanwhile': 'This folder changed while you were asked. Do you trust it as it is now?',
};

function formatTrust({ question: { trust, parent }, details }: FirstRunScreenState): FirstRunText {
  const { state = 'new', effects = [] } = trust ?? {};
  const listed =
    details === 'shown' ? effects.map(formatEffect) : EFFECT_GROUPS.flatMap((group) => summarizeGroup(group, effects));
  return {
    title: TRUST_TITLES[state],
    body:
      effects.length === 0
        ? [createProseLine(plain('It is a git repository. ouro will use instructions and settings that appear in it.'))]
        : [createProseLine(plain('If you do, ouro uses what it contains:')), ...listed],
    options: [
      { key: 'y', label: 'Yes, trust this folder' },
      ...(parent === undefined ? [] : [{ key: 'p', label: `Yes, and all folders in ${sanitize(parent, 'prompt')}` }]),
      { key: 'n', label: 'No, work without its instructions and settings' },
    ],
    keys: effects.length === 0 ? EXIT_KEYS : `↑↓ enter · v ${details === 'shown' ? 'summary' : 'show all'} · esc exit`,
  };
}

type EffectGroup = {
  readonly label: string;
  readonly kinds: readonly TrustEffect['kind'][];
  /** Programs are listed one by one; everything else is counted, and the first ones are named. */
  readonly listing: 'each' | 'counted';
};

const EFFECT_GROUPS: readonly EffectGroup[] = [
  { label: 'runs', kinds: ['hook', 'server', 'program'], listing: 'each' },
  { label: 'allows', kinds: ['mode', 'rule', 'command'], listing: 'counted' },
  { label: 'sets', kinds: ['variable'], listing: 'counted' },
  { label: 'opens', kinds: ['folder'], listing: 'counted' },
  { label: 'reads', kinds: ['instructions'], listing: 'counted' },
  { label: 'not run', kinds: ['offer'], listing: 'each' },
];
const LABEL_COLUMNS = 8;
const MAX_UNBROKEN = 40;

function summarizeGroup({ label, kinds, listing }: EffectGroup, effects: readonly TrustEffect[]): LogicalLine[] {
  const texts = kinds.flatMap((kind) =>
    effects.filter((effect) => effect.kind === kind).map((effect) => formatInline(effect.label ?? effect.text)),
  );
  if (texts.length === 0) return [];
  if (listing === 'each') return texts.map((text, at) => createLabeledLine(at === 0 ? label : '', plain(text)));
  const more = texts.length - MAX_NAMED;
  const shown = texts.slice(0, more > 0 ? MAX_NAMED : texts.length);
  // A text that is longer than a row would be broken within a word.
  const named = shown.map((text) => (text.length > MAX_UNBROKEN ? text : insertNoBreakSpaces(text)));
  const suffix = more > 0 ? [colored('dim', ` and ${more} more`)] : [];
  return [{ ...createLabeledLine(label, plain(named.join(', ')), ...suffix), hasNoBreakSpaces: true }];
}

function createLabeledLine(label: string, ...spans: readonly StyledSpan[]): LogicalLine {
  return { ...createProseLine(...spans), indent: LABEL_COLUMNS, label: colored('dim', label.padEnd(LABEL_COLUMNS)) };
}

function formatInline(text: string): string {
  return sanitize(text, 'prompt').replaceAll('\n', '⏎');
}

function formatEffect({ kind, text, file, line }: TrustEffect): LogicalLine {
  const location = `  ${file}${line === undefined ? '' : `:${line}`}`;
  return createProseLine(plain(`${kind}: ${formatInline(text)}`), colored('dim', sanitize(location, 'prompt')));
}

function formatModel(state: FirstRunScreenState): FirstRunText {
  const { providers } = state.question;
  const names = providers.map(({ label, source }) => `${label} (${source})`).join(', ');
  return {
    title: 'Which model should answer?',
    body: [
      createProseLine(
        plain(
          `No ${providers.length === 0 ? 'API key' : 'Anthropic API key'} was found on this machine. ` +
            '`ouro login` stores one later.',
        ),
      ),
    ],
    options: [
      ...(providers.length === 0 ? [] : [{ key: 'o', label: `A provider with a key: ${names}` }]),
      { key: 'd', label: 'The demo: a scripted model in a sample project, without key and network' },
      { key: 'k', label: 'An API key: Anthropic, OpenAI, Gemini, OpenRouter and others' },
      { key: 'l', label: `A local model: ${describeServers(state)}` },
      { key: 'u', label: 'Another OpenAI-compatible server' },
    ],
    keys: EXIT_KEYS,
  };
}

function describeServers(state: FirstRunScreenState): string {
  if (state.servers === 'looking') return 'searching …';
  if (listLocalModels(state).length === 0) return 'no server found (Ollama, LM Studio, llama.cpp, vLLM)';
  return state.servers
    .filter(({ models }) => models.length > 0)
    .map(({ name, models }) => `${name} (${sanitize(models.slice(0, 3).join(', '), 'prompt')})`)
    .join(', ');
}

function formatOffer({ question: { offer } }: FirstRunScreenState): FirstRunText {
  const { from = '', to = '', holds = [] } = offer ?? {};
  return {
    title: 'Copy your Claude Code settings?',
    body: [
      createProseLine(
        plain(`${sanitize(from, 'prompt')} contains ${holds.join(', ')}. ouro has not read them.`),
        colored('dim', ' `ouro settings import` copies them later.'),
      ),
    ],
    options: [
      { key: 'y', label: `Yes, copy them to ${sanitize(to, 'prompt')}; existing files are kept` },
      { key: 'n', label: "No, and don't ask again" },
    ],
    keys: EXIT_KEYS,
  };
}

const INPUT_MARK = '> ';

function formatKeyPage({ keyProvider }: FirstRunScreenState, text: string): FirstRunText {
  const typed = `${keyProvider === undefined ? '' : `${keyProvider} key, `}${formatCount(text.length, 'character')} · `;
  return {
    title: 'Paste an API key',
    body: [
      createProseLine(
        plain(
          'The provider is recognized by the prefix. The key is stored in a file or keyring that only your user can read.',
        ),
        colored(
          'dim',
          ' Claude and ChatGPT subscriptions do not include an API key; Google AI Studio and Groq offer free ones.',
        ),
      ),
      createStyledLine(colored('accent', INPUT_MARK), plain(maskKey(text))),
    ],
    options: [],
    keys: `${text === '' ? '' : typed}enter stores the key · esc back`,
  };
}

/** Shows enough of a key to recognize it: its beginning and its end. */
function maskKey(key: string): string {
  const first = key.slice(0, Math.min(10, Math.floor(key.length / 3)));
  const last = key.length < 8 ? '' : key.slice(-Math.min(4, Math.floor(key.length / 8)));
  return `${first}${'•'.repeat(Math.min(20, key.length - first.length - last.length))}${last}`;
}

function formatAddressPage(text: string): FirstRunText {
  return {
    title: 'Enter the address of the server',
    body: [
      createProseLine(plain('For example http://127.0.0.1:8080/v1')),
      createStyledLine(colored('accent', INPUT_MARK), plain(sanitize(text, 'prompt'))),
    ],
    options: [],
    keys: 'enter loads the models · esc back',
  };
}

function formatModelsPage(models: readonly string[]): FirstRunText {
  return {
    title: 'Choose a model',
    body:
      models.length > MAX_MODELS
        ? [createProseLine(plain(`${models.length - MAX_MODELS} more: ouro --model <name>`))]
        : [],
    options: models.slice(0, MAX_MODELS).map((model) => ({ key: '', label: sanitize(model, 'prompt') })),
    keys: '↑↓ enter · esc back',
  };
}
