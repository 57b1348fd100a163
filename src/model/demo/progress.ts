import { isJsonObject } from '../../contracts/json.ts';
import type { ToolResultBlock, UserBlock } from '../../contracts/message.ts';
import type { RequestMessage } from '../../contracts/model.ts';
import { type DemoStage, STEPS, type StepName } from './script.ts';

/** What became of a step: read from the conversation alone, so that a resumed demo knows where it was. */
type StepState = 'open' | 'done' | 'declined' | 'stale';

/** Where the conversation stands. */
export type DemoProgress = {
  readonly states: Readonly<Record<StepName, StepState>>;
  /** The step whose result has just arrived; `undefined` when the person spoke last. */
  readonly answered: StepName | undefined;
  /** What the person typed last, or said along with a result. */
  readonly words: string;
};

/** Reads the conversation so far. */
export function readProgress(messages: readonly RequestMessage[]): DemoProgress {
  const results = new Map(
    messages
      .flatMap((message): readonly UserBlock[] => (message.role === 'user' ? message.blocks : []))
      .filter((block) => block.type === 'tool_result')
      .map((result) => [result.tool_use_id, result]),
  );
  const ids = messages.flatMap((message) =>
    message.role === 'assistant'
      ? message.blocks.flatMap((block) => (block.type === 'tool_use' ? [block.id] : []))
      : [],
  );
  const last = messages.at(-1);
  const recent = last?.role === 'user' ? last.blocks.filter((block) => block.type === 'tool_result') : [];
  const answered = recent.map(({ tool_use_id }) => stepOfId(tool_use_id)).findLast((step) => step !== undefined);
  const stateOf = (step: StepName) => {
    const id = ids.findLast((candidate) => stepOfId(candidate) === step);
    return judge(step, id === undefined ? undefined : results.get(id));
  };
  return {
    states: {
      search: stateOf('search'),
      read: stateOf('read'),
      test: stateOf('test'),
      edit: stateOf('edit'),
      retest: stateOf('retest'),
      receipt: stateOf('receipt'),
    },
    answered,
    words: last?.role === 'user' ? wordsOf(last.blocks) : '',
  };
}

/** An id that says which step it belongs to, unique within the conversation. */
export function callId(step: StepName, messages: readonly RequestMessage[]): string {
  return `demo_${step}_${messages.length}`;
}

/** Where the tour began, in a session that goes on elsewhere. */
export function earlierStage(messages: readonly RequestMessage[]): DemoStage | undefined {
  const calls = messages.flatMap((message) => (message.role === 'assistant' ? message.blocks : []));
  const search = calls.find((block) => block.type === 'tool_use' && stepOfId(block.id) === 'search');
  const path = search?.type === 'tool_use' && isJsonObject(search.input) ? search.input.path : undefined;
  return typeof path === 'string' ? { projectDir: path, cwd: '' } : undefined;
}

function stepOfId(id: string): StepName | undefined {
  return STEPS.find((step) => id.startsWith(`demo_${step}_`));
}

function judge(step: StepName, result: ToolResultBlock | undefined): StepState {
  if (!result) return 'open';
  const text = textOf(result);
  if (/interrupted/i.test(text) && result.is_error) return 'open';
  if (!result.is_error) return 'done';
  // A failing test run is an error result too, and exactly what the tour wants to show.
  if ((step === 'test' || step === 'retest') && /\b(?:fail|pass) \d|not ok|✖/.test(text)) return 'done';
  if (step === 'edit' && /read .{0,40}(?:first|again)|changed since|is not in|not found/i.test(text)) return 'stale';
  return 'declined';
}

function textOf({ content }: ToolResultBlock): string {
  return typeof content === 'string'
    ? content
    : content.map((block) => (block.type === 'text' ? block.text : '')).join('\n');
}

/** What a person typed: attachments come in tags and notes in brackets, and are not theirs. */
function wordsOf(blocks: readonly UserBlock[]): string {
  return blocks
    .map((block) => (block.type === 'text' && !/^[<[]/.test(block.text) ? block.text : ''))
    .filter((text) => text !== '')
    .join('\n')
    .trim();
}
