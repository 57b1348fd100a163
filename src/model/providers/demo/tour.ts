import { isJsonObject, type JsonObject } from '../../../contracts/json.ts';
import type { ToolResultBlock, UserBlock } from '../../../contracts/message.ts';
import type { RequestMessage } from '../../../contracts/model.ts';
import { SAMPLE_PROJECT_FIX } from './sample-project-files.ts';

/** Sample project of the demo, and the directory the tools run in. */
export type DemoProject = { readonly projectDir: string; readonly cwd: string };

/** The steps of the tour, in order. */
export const TOUR_STEPS = ['search', 'read', 'test', 'edit', 'retest', 'receipt'] as const;

/** The name of a step of the tour. */
export type TourStepName = (typeof TOUR_STEPS)[number];

/** One reply of the tour: thinking, text and one tool call. */
type TourStep = {
  readonly thinking?: string;
  readonly text: string;
  readonly tool: string;
  readonly input: JsonObject;
  /** Text and next step after the user denied the call. */
  readonly declined: TourReaction;
  /** The same after a command that could not run: the machine has no Node or no bash. */
  readonly failed?: TourReaction;
};

type TourReaction = { readonly text: string; readonly next: TourStepName | 'end' };

/** Returns a step of the tour for a sample project. */
export function getTourStep(name: TourStepName, project: DemoProject): TourStep {
  return STEP_BUILDERS[name](project);
}

const STEP_BUILDERS: Readonly<Record<TourStepName, (project: DemoProject) => TourStep>> = {
  search: ({ projectDir }) => ({
    text: 'This is the built-in demo: my text is scripted, everything else is real. The tools run, the files change, and you are asked before anything that matters.\n\nThis small shop has a failing test. I start by searching for the code that applies discounts.',
    tool: 'Grep',
    input: { pattern: 'discount', path: projectDir, glob: '*.mjs', output_mode: 'content', '-n': true, '-i': true },
    declined: { text: 'The search was not allowed, so I open the file I know.', next: 'read' },
  }),
  read: ({ projectDir }) => ({
    text: 'The discount is applied in `src/cart.mjs`. I read the file.',
    tool: 'Read',
    input: { file_path: `${projectDir}/${SAMPLE_PROJECT_FIX.file}` },
    declined: { text: NOTHING_DONE, next: 'end' },
  }),
  test: (project) => ({
    text: 'Before I change anything I want to see the tests fail.',
    tool: 'Bash',
    input: { command: runInProject('node --test', project), description: 'Run the tests of the sample project' },
    declined: { text: 'Without the tests I rely on the code alone; the bug is visible there.', next: 'edit' },
    failed: {
      text: 'The tests need Node and bash, and this machine lacks one of them. I rely on the code alone; the bug is visible there.',
      next: 'edit',
    },
  }),
  edit: ({ projectDir }) => ({
    thinking:
      'The test wants 10 percent off 200.00 to be 180.00. applyDiscount subtracts the number itself: 20000 - 10 = 19990 cents. A percentage has to be multiplied: subtotal * (1 - percent / 100) = 18000. Only that line needs to change; with 0 percent it still gives the subtotal.',
    text: '`applyDiscount` takes the *number* off, not the *percentage*: 200.00 minus 10 cents. One line to correct. You see it as a diff before it is written.',
    tool: 'Edit',
    input: {
      file_path: `${projectDir}/${SAMPLE_PROJECT_FIX.file}`,
      old_string: SAMPLE_PROJECT_FIX.before,
      new_string: SAMPLE_PROJECT_FIX.after,
    },
    declined: {
      text: `The file stays as it is. The line I had in mind for \`${SAMPLE_PROJECT_FIX.file}\`:\n\n\`\`\`js\n${SAMPLE_PROJECT_FIX.after.trim()}\n\`\`\`\n\nThis text comes from the built-in demo. Say \`go on\` to see the diff again.`,
      next: 'end',
    },
  }),
  retest: (project) => ({
    text: 'The line is corrected. The tests again:',
    tool: 'Bash',
    input: { command: runInProject('node --test', project), description: 'Run the tests again' },
    declined: { text: 'You can run the tests yourself: `node --test`.', next: 'receipt' },
    failed: { text: 'The tests still cannot run here; with Node and bash they pass now.', next: 'receipt' },
  }),
  receipt: (project) => ({
    text: 'One more thing, and it needs your approval: the next command writes a file. You can allow it, deny it, or deny it with a reason.',
    tool: 'Bash',
    input: {
      command: runInProject('node bin/receipt.mjs > receipt.txt && cat receipt.txt', project),
      description: 'Write a receipt to receipt.txt',
    },
    declined: { text: 'Denied, so the command did not run.', next: 'end' },
    failed: { text: 'The command was allowed, but it needs Node and bash, too.', next: 'end' },
  }),
};

/** Returns the text that ends the tour. */
export function buildTourClosingText({ projectDir }: DemoProject): string {
  return `That was the tour: search, read, run, think, edit, check, ask. The project is in \`${projectDir}\`; \`/undo\` takes the edit back.\n\nWith a model behind it ouro does this in your own code: set ANTHROPIC_API_KEY and start again, or choose a local model with \`/model\`.`;
}

const NOTHING_DONE = 'Nothing was changed. Say `go on` to continue the demo.';

function runInProject(command: string, { projectDir, cwd }: DemoProject): string {
  return projectDir === cwd ? command : `cd '${projectDir.replaceAll("'", `'\\''`)}' && ${command}`;
}

/** State of a tour step, derived from the conversation, so that a resumed session continues correctly. */
type StepState = 'open' | 'done' | 'declined' | 'failed' | 'stale';

/** Progress of the tour in a conversation. */
export type TourProgress = {
  readonly states: Readonly<Record<TourStepName, StepState>>;
  /** Step of the latest tool result; `undefined` if the last message has none. */
  readonly answeredStep: TourStepName | undefined;
  /** Text of the user's last message. */
  readonly userText: string;
};

/** Reads the progress from the conversation. */
export function deriveTourProgress(messages: readonly RequestMessage[]): TourProgress {
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
  const answeredStep = recent
    .map(({ tool_use_id }) => parseStepName(tool_use_id))
    .findLast((step) => step !== undefined);
  const getState = (step: TourStepName) => {
    const id = ids.findLast((candidate) => parseStepName(candidate) === step);
    return classifyResult(step, id === undefined ? undefined : results.get(id));
  };
  return {
    states: {
      search: getState('search'),
      read: getState('read'),
      test: getState('test'),
      edit: getState('edit'),
      retest: getState('retest'),
      receipt: getState('receipt'),
    },
    answeredStep,
    userText: last?.role === 'user' ? readUserText(last.blocks) : '',
  };
}

/** Creates a tool call id that contains the step and is unique within the conversation. */
export function createTourCallId(step: TourStepName, messages: readonly RequestMessage[]): string {
  return `demo_${step}_${messages.length}`;
}

/** Finds the sample project of a tour that started in another working directory. */
export function findEarlierSampleProject(messages: readonly RequestMessage[]): DemoProject | undefined {
  const calls = messages.flatMap((message) => (message.role === 'assistant' ? message.blocks : []));
  const search = calls.find((block) => block.type === 'tool_use' && parseStepName(block.id) === 'search');
  const path = search?.type === 'tool_use' && isJsonObject(search.input) ? search.input.path : undefined;
  return typeof path === 'string' ? { projectDir: path, cwd: '' } : undefined;
}

function parseStepName(id: string): TourStepName | undefined {
  return TOUR_STEPS.find((step) => id.startsWith(`demo_${step}_`));
}

function classifyResult(step: TourStepName, result: ToolResultBlock | undefined): StepState {
  if (!result) return 'open';
  const text = readResultText(result);
  if (/interrupted/i.test(text) && result.is_error) return 'open';
  if (!result.is_error) return 'done';
  // A failing test run is an error result too, but it is the intended outcome of the step.
  if ((step === 'test' || step === 'retest') && /\b(?:fail|pass) \d|not ok|✖/.test(text)) return 'done';
  if (/exit code 127|could not start|commands need/i.test(text)) return 'failed';
  if (step === 'edit' && /read .{0,40}(?:first|again)|changed since|is not in|not found/i.test(text)) return 'stale';
  return 'declined';
}

function readResultText({ content }: ToolResultBlock): string {
  return typeof content === 'string'
    ? content
    : content.map((block) => (block.type === 'text' ? block.text : '')).join('\n');
}

/** Returns the text the user typed, without attachments in tags and notes in brackets. */
function readUserText(blocks: readonly UserBlock[]): string {
  return blocks
    .map((block) => (block.type === 'text' && !/^[<[]/.test(block.text) ? block.text : ''))
    .filter((text) => text !== '')
    .join('\n')
    .trim();
}
