import { MODES } from '../../contracts/permission.ts';
import { type FlagTable, flag, json } from './flag.ts';
import { FLAGS } from './flags.ts';

const queue = flag('--queue <name>', 'name', 'on the queue of this name (queues.json), or at this address');
const jobs = flag('-j, --jobs <n>', { numberFrom: 1, isWhole: true }, 'how many tasks at once');
/** What a task file says, and what is done with a batch. */
export const BATCH_FLAGS = {
  over: {
    ...flag(
      '--over <patterns...>',
      'texts',
      'folders, files or addresses of repositories; the prompt stands before it',
    ),
    default: [],
  },
  items: flag('--items <file>', 'name', 'one task for each line of this file, as {{item}}'),
  name: flag('--name <name>', 'name', 'what the batch is called'),
  ref: flag('--ref <ref>', 'name', 'begin at this branch or commit instead of HEAD'),
  model: FLAGS.model,
  mode: flag('--mode <mode>', { oneOf: MODES }, 'how much happens without a question'),
  allowedTools: flag('--allowedTools, --allowed-tools <rules...>', 'list', 'calls that need no question'),
  verify: flag('--verify <command>', 'name', 'done is what this command accepts'),
  each: flag('--each <dollars>', { numberFrom: 0, isWhole: false }, 'what one task may cost (2 if not given)'),
  all: flag('--all <dollars>', { numberFrom: 0, isWhole: false }, 'what all of them may cost'),
  minutes: flag('--minutes <n>', { numberFrom: 0, isWhole: false }, 'how long one task may take (45 if not given)'),
  attempts: flag('--attempts <n>', { numberFrom: 1, isWhole: true }, 'how often a task is tried (3 if not given)'),
  atOnce: flag(
    '--at-once <n>',
    { numberFrom: 1, isWhole: true },
    'how many run at once, on all machines (8 if not given)',
  ),
  dryRun: flag('--dry-run', 'nothing', 'run: list every task and what it can cost; delete: only say which'),
  try: flag('--try <n>', { numberFrom: 1, isWhole: true }, 'run: begin with so many, then ask'),
  reuse: flag('--reuse', 'nothing', 'run: take over what the same tasks came to in other batches'),
  detach: flag('--detach', 'nothing', 'run: only put it into the queue, for workers'),
  sign: flag('--sign <key>', 'name', 'run: sign each task with this ssh key'),
  yes: flag('--yes', 'nothing', 'run, delete: do not ask'),
  olderThan: flag(
    '--older-than <days>',
    { numberFrom: 0, isWhole: false },
    'delete: batches that have ended and been quiet for so long',
  ),
  wait: flag('--no-wait', 'nothing', 'run: end when what is left waits for quota or a key'),
  queue,
  jobs,
  watch: flag('--watch', 'nothing', 'status: follow it'),
  follow: flag('-f, --follow', 'nothing', 'logs: follow them'),
  failed: flag('--failed', 'nothing', 'retry: all that failed'),
  patches: flag('--patches <dir>', 'name', 'collect: a file for each patch, into this folder'),
  branches: flag('--branches', 'nothing', 'collect: a branch for each in its repository'),
  prs: flag('--prs', 'nothing', 'collect: a pull request for each, with gh'),
  json,
} as const satisfies FlagTable;

/** What a worker takes from its queue, and how long. */
export const WORKER_FLAGS = {
  queue,
  jobs,
  once: flag('--once', 'nothing', 'run one task and end'),
  untilEmpty: flag('--until-empty', 'nothing', 'end when nothing is left that could begin'),
  json,
} as const satisfies FlagTable;
