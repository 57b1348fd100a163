import type { JsonObject } from '../../contracts/json.ts';
import { FIX } from './sample-files.ts';

/** Where the demo plays: the sample project, and the directory the tools run in. */
export type DemoStage = { readonly projectDir: string; readonly cwd: string };

/** The steps of the tour, in order. */
export const STEPS = ['search', 'read', 'test', 'edit', 'retest', 'receipt'] as const;
export type StepName = (typeof STEPS)[number];

/** One reply of the tour: what is thought and said, and the one call it makes. */
export type Step = {
  readonly thinking?: string;
  readonly text: string;
  readonly tool: string;
  readonly input: JsonObject;
  /** Said instead of going on, or before going on, when the call was not allowed. */
  readonly declined: { readonly text: string; readonly next: StepName | 'end' };
};

/** What one step says and does on its stage. */
export function stepOf(name: StepName, stage: DemoStage): Step {
  return SCRIPT[name](stage);
}

const SCRIPT: Readonly<Record<StepName, (stage: DemoStage) => Step>> = {
  search: ({ projectDir }) => ({
    text: 'This is the built-in demo: my words are scripted, everything else is real. The tools run, the files change, and you are asked before anything that matters.\n\nThis little shop has a failing test. I start by looking for the code that takes discounts.',
    tool: 'Grep',
    input: { pattern: 'discount', path: projectDir, glob: '*.mjs', output_mode: 'content', '-n': true, '-i': true },
    declined: { text: 'The search was not allowed, so I open the file I know.', next: 'read' },
  }),
  read: ({ projectDir }) => ({
    text: 'The discount is taken in `src/cart.mjs`. I read it.',
    tool: 'Read',
    input: { file_path: `${projectDir}/${FIX.file}` },
    declined: { text: NOTHING_DONE, next: 'end' },
  }),
  test: (stage) => ({
    text: 'Before I change anything I want to see the tests fail.',
    tool: 'Bash',
    input: { command: inProject('node --test', stage), description: 'Run the tests of the sample project' },
    declined: { text: 'Without running the tests I go by the code alone; the mistake is visible there.', next: 'edit' },
  }),
  edit: ({ projectDir }) => ({
    thinking:
      'The test wants 10 percent off 200.00 to be 180.00. applyDiscount subtracts the number itself: 20000 - 10 = 19990 cents. A percentage has to be multiplied: subtotal * (1 - percent / 100) = 18000. Only that line needs to change; with 0 percent it still gives the subtotal.',
    text: '`applyDiscount` takes the *number* off, not the *percentage*: 200.00 minus 10 cents. One line to correct. You see it as a diff before it is written.',
    tool: 'Edit',
    input: { file_path: `${projectDir}/${FIX.file}`, old_string: FIX.before, new_string: FIX.after },
    declined: {
      text: `The file stays as it is. The line I had in mind for \`${FIX.file}\`:\n\n\`\`\`js\n${FIX.after.trim()}\n\`\`\`\n\nThese words are the built-in demo’s. Say \`go on\` to see the diff again.`,
      next: 'end',
    },
  }),
  retest: (stage) => ({
    text: 'The line is corrected. The tests again:',
    tool: 'Bash',
    input: { command: inProject('node --test', stage), description: 'Run the tests again' },
    declined: { text: 'Then the tests are yours to run: `node --test`.', next: 'receipt' },
  }),
  receipt: (stage) => ({
    text: 'One more thing, and it needs your word: the next command writes a file. You can allow it, refuse it, or refuse it with a reason.',
    tool: 'Bash',
    input: {
      command: inProject('node bin/receipt.mjs > receipt.txt && cat receipt.txt', stage),
      description: 'Write a receipt to receipt.txt',
    },
    declined: { text: 'Refused, and so it did not run: that is all there is to it.', next: 'end' },
  }),
};

/** The last words, once every step was shown. */
export function closing({ projectDir }: DemoStage): string {
  return `That was the tour: search, read, run, think, edit, check, ask. The project is in \`${projectDir}\`; \`/undo\` takes the edit back.\n\nWith a model behind it ouro does this in your own code: set ANTHROPIC_API_KEY and start again, or choose a local model with \`/model\`.`;
}

const NOTHING_DONE = 'Nothing was done, then. Say `go on` whenever you want to continue the demo.';

function inProject(command: string, { projectDir, cwd }: DemoStage): string {
  return projectDir === cwd ? command : `cd '${projectDir.replaceAll("'", `'\\''`)}' && ${command}`;
}
