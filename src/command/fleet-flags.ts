import { PERMISSION_MODES } from '../contracts/permission.ts';
import { defineFlag, type FlagTable, type FlagValuesOf, JSON_FLAG } from './define-flag.ts';
import { CLI_FLAGS } from './flags.ts';

const queue = defineFlag('--queue <name>', 'name', 'queue to use: a name from queues.json, or an address');
const jobs = defineFlag('-j, --jobs <n>', { numberFrom: 1, isWhole: true }, 'tasks to run at once on this machine');
/** Flags of `ouro batch`: the fields of a task file, and the options of its subcommands. */
export const BATCH_FLAGS = {
  over: {
    ...defineFlag(
      '--over <patterns...>',
      'texts',
      'folders, files or repository addresses; the prompt comes before it',
    ),
    default: [],
  },
  items: defineFlag('--items <file>', 'name', 'one task for each line of this file, as {{item}}'),
  name: defineFlag('--name <name>', 'name', 'name of the batch'),
  ref: defineFlag('--ref <ref>', 'name', 'branch or commit to start from instead of HEAD'),
  model: CLI_FLAGS.model,
  mode: defineFlag('--mode <mode>', { oneOf: PERMISSION_MODES }, 'permission mode of the tasks'),
  allowedTools: defineFlag('--allowedTools, --allowed-tools <rules...>', 'list', 'tool calls allowed without asking'),
  verify: defineFlag('--verify <command>', 'name', 'command that must succeed for a task to be done'),
  each: defineFlag('--each <dollars>', { numberFrom: 0, isWhole: false }, 'budget of one task (default: 2)'),
  all: defineFlag('--all <dollars>', { numberFrom: 0, isWhole: false }, 'budget of the whole batch'),
  minutes: defineFlag('--minutes <n>', { numberFrom: 0, isWhole: false }, 'time limit of one task (default: 45)'),
  attempts: defineFlag('--attempts <n>', { numberFrom: 1, isWhole: true }, 'attempts per task (default: 3)'),
  atOnce: defineFlag(
    '--at-once <n>',
    { numberFrom: 1, isWhole: true },
    'tasks to run at once across all machines (default: 8)',
  ),
  dryRun: defineFlag(
    '--dry-run',
    'boolean',
    'run: list every task and its maximum cost; delete: list the batches only',
  ),
  try: defineFlag('--try <n>', { numberFrom: 1, isWhole: true }, 'run: start with this many tasks, then ask'),
  reuse: defineFlag('--reuse', 'boolean', 'run: reuse the results of identical tasks from other batches'),
  every: defineFlag(
    '--every <duration>',
    'name',
    'run: store a schedule that workers submit again every 30m, 12h, 1d or 2w',
  ),
  detach: defineFlag('--detach', 'boolean', 'run: only add the batch to the queue, for workers to pick up'),
  sign: defineFlag('--sign <key>', 'name', 'run: sign each task with this SSH key'),
  yes: defineFlag('--yes', 'boolean', 'run, delete: do not ask for confirmation, also of an edited task file'),
  olderThan: defineFlag(
    '--older-than <days>',
    { numberFrom: 0, isWhole: false },
    'delete: ended batches without activity for this many days',
  ),
  wait: defineFlag('--no-wait', 'boolean', 'run: exit when the remaining tasks wait for quota or a key'),
  queue,
  jobs,
  watch: defineFlag('--watch', 'boolean', 'status: keep the status updated until the batch ends'),
  follow: defineFlag('-f, --follow', 'boolean', 'logs: follow the log'),
  failed: defineFlag('--failed', 'boolean', 'retry: all failed tasks'),
  patches: defineFlag('--patches <dir>', 'name', 'collect: write one patch file per task into this folder'),
  branches: defineFlag('--branches', 'boolean', 'collect: create one branch per task in its repository'),
  prs: defineFlag('--prs', 'boolean', 'collect: open one pull request per task; status: look up their state'),
  json: JSON_FLAG,
} as const satisfies FlagTable;

/** Flags of `ouro worker`. */
export const WORKER_FLAGS = {
  queue,
  jobs,
  once: defineFlag('--once', 'boolean', 'run one task and exit'),
  untilEmpty: defineFlag('--until-empty', 'boolean', 'exit when no task is left to start'),
  log: defineFlag('--log <format>', { oneOf: ['text', 'json'] }, 'json: print each event as a line of JSON'),
  health: defineFlag(
    '--health <port>',
    { numberFrom: 0, isWhole: true },
    'answer /health and /metrics on this port of 127.0.0.1',
  ),
  json: JSON_FLAG,
} as const satisfies FlagTable;

/** Flags of `ouro eval`. */
export const EVAL_FLAGS = {
  model: defineFlag('--model <names>', 'list', 'models to compare; the model of the settings by default'),
  times: {
    ...defineFlag('--times <n>', { numberFrom: 1, isWhole: true }, 'runs of each task with each model'),
    default: 1,
  },
  parallel: {
    ...defineFlag('--parallel <n>', { numberFrom: 1, isWhole: true }, 'runs at once'),
    default: 2,
  },
  task: defineFlag('--task <names>', 'list', 'run only these tasks'),
  list: defineFlag('--list', 'boolean', 'list the tasks and run none'),
  prove: defineFlag('--prove', 'boolean', 'test the tasks: each check must fail at first and pass after the solution'),
  out: defineFlag('--out <dir>', 'name', 'write the report, its page, and the transcripts and patches of the runs'),
  baseline: defineFlag('--baseline <file>', 'name', 'compare with an earlier report.json'),
  record: defineFlag('--record <dir>', 'name', 'record the replies of the models'),
  replay: defineFlag('--replay <dir>', 'name', 'run with recorded replies, without network'),
  sandbox: defineFlag('--sandbox', 'boolean', 'run all commands in the sandbox'),
  json: JSON_FLAG,
} as const satisfies FlagTable;

/** The parsed flags of `ouro eval`. */
export type EvalFlags = FlagValuesOf<typeof EVAL_FLAGS>;

/** The parsed flags of `ouro batch`. */
export type BatchFlags = FlagValuesOf<typeof BATCH_FLAGS>;

/** The parsed flags of `ouro worker`. */
export type WorkerFlags = FlagValuesOf<typeof WORKER_FLAGS>;

/** The actions of `ouro batch`, with the most arguments each takes. */
export const BATCH_ACTION_MAX_ARGS = {
  run: 1,
  list: 0,
  status: 1,
  show: 2,
  logs: 2,
  pause: 1,
  resume: 1,
  cancel: 'any',
  retry: 'any',
  budget: 2,
  collect: 1,
  delete: 'any',
  init: 'any',
} as const;
