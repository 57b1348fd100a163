import { stat } from 'node:fs/promises';
import { resolve } from 'node:path';
import type { SlashCommandOutcome } from '../../contracts/frontend/command.ts';
import {
  type BuiltinSlashCommand,
  createErrorOutcome,
  createMarkdownOutcome,
  createSuccessOutcome,
} from './builtin-slash-command.ts';
import { CONFIG_SLASH_COMMAND } from './config-command.ts';

const REVIEW_PROMPT = `Review a change of this project. Find out first which change is meant: the one named below, else the uncommitted work, else what this branch has beyond its base. Read the diff, then as much of the surrounding code, callers and tests as you need to judge it.

Report defects first, the most serious one first: wrong results, lost data, races, missing error handling, broken callers, security problems, missing tests for new behaviour. For each, give file and line, an input or situation in which it goes wrong, and a fix. Then, briefly, what would make the change simpler. Do not list matters of taste, and say so plainly if you found nothing. Change no files.`;

const SECURITY_REVIEW_PROMPT = `Review a change of this project for security problems only. Find out first which change is meant: the one named below, else the uncommitted work, else what this branch has beyond its base. Follow data from outside (requests, files, environment, other services, output of models) to the places where it takes effect: commands, queries, paths, templates, deserialization, redirects, memory, permissions, logs and secrets.

Report only what an attacker could really use, the most serious one first: file and line, how it is exploited step by step, what it gains, and a fix. Leave out hypothetical problems and general advice. Say so plainly if you found nothing. Change no files.`;

/** Commands that people know from other assistants. */
export const COMPATIBILITY_SLASH_COMMANDS: readonly BuiltinSlashCommand[] = [
  {
    name: 'plan',
    description: 'switch to plan mode, and send a prompt in it',
    argumentHint: '[prompt]',
    async run(args, { actions, core }) {
      const set = actions.setMode('plan');
      if (!set.ok) return createErrorOutcome(set.problem);
      const hint = core.options.frontend === 'screen' ? ' shift+tab changes the mode.' : '';
      return args.trim() === '' ? createSuccessOutcome(`Plan mode is on.${hint}`) : sendPrompt(args.trim());
    },
  },
  {
    name: 'add-dir',
    aliases: ['directory'],
    description: 'add a folder to the workspace for this session',
    argumentHint: '<folder>',
    async run(args, { core: { live, environment } }) {
      if (args.trim() === '') return createErrorOutcome('Usage: /add-dir <folder>');
      const { cwd, directories } = live.current();
      const folder = resolve(cwd, args.trim().replace(/^~(?=$|\/)/, environment.home));
      const entry = await stat(folder).catch(() => undefined);
      if (entry?.isDirectory() !== true) return createErrorOutcome(`${folder} is not a folder.`);
      live.update({ directories: [...directories.filter((other) => other !== folder), folder] });
      return createSuccessOutcome(
        `Added ${folder} to the workspace of this session. To keep it, add it to permissions.additionalDirectories.`,
      );
    },
  },
  {
    name: 'output-style',
    description: 'show or change the output style',
    argumentHint: '[name]',
    async run(args, parts) {
      const { extensions, live } = parts.core;
      const name = args.trim();
      const current = live.current().outputStyle;
      const names = [...new Set(['default', ...extensions.current().styles.map((style) => style.name)])];
      if (name !== '' && !names.includes(name))
        return createErrorOutcome(`Unknown output style ${name}. Choose one of ${names.join(', ')}.`);
      if (name !== '') return CONFIG_SLASH_COMMAND.run(`set outputStyle ${name}`, parts);
      const list = names.map((style) => `- ${style}${style === current ? ' (current)' : ''}`);
      return createMarkdownOutcome(`${list.join('\n')}\n\n\`/output-style <name>\` changes it.`);
    },
  },
  {
    name: 'review',
    description: 'review uncommitted changes, a branch, a commit or a pull request',
    argumentHint: '[what]',
    run: async (args) => sendPrompt(appendSubject(REVIEW_PROMPT, args)),
  },
  {
    name: 'security-review',
    description: 'review changes for security problems',
    argumentHint: '[what]',
    run: async (args) => sendPrompt(appendSubject(SECURITY_REVIEW_PROMPT, args)),
  },
  {
    name: 'import',
    description: 'list files of other assistants, and import them',
    argumentHint: '[yes] [kind or assistant]',
    async run(args, { core: { environment, cwd, options, settings, extensions } }) {
      const [isTaken, ...words] = args.trim() === '' ? [] : args.trim().split(/\s+/);
      const wanted = isTaken === 'yes' || isTaken === undefined ? words : [isTaken, ...words];
      // Loaded on demand: imports read the formats of other assistants.
      const plan = await (await options.loadImports()).plan(environment, cwd, wanted);
      if (!plan.ok) return createErrorOutcome(plan.problem);
      if (isTaken !== 'yes') {
        const hint = plan.count === 0 ? [] : [`\`/import ${['yes', ...wanted].join(' ')}\` imports it.`];
        const sessionsHint = wanted.length === 0 ? ['`/import sessions` lists sessions of this project.'] : [];
        return plan.lines.length === 0
          ? createErrorOutcome(
              ['Nothing to import: nothing of other assistants was found here.', ...sessionsHint].join(' '),
            )
          : createMarkdownOutcome(
              [plan.lines.map((line) => `- ${line.trim()}`).join('\n'), ...hint, ...sessionsHint].join('\n\n'),
            );
      }
      const { taken, failed } = await plan.apply();
      await Promise.all([settings.refresh(), extensions.reload()]);
      return createMarkdownOutcome([...taken, ...failed.map((line) => `not imported: ${line}`)].join('\n\n'));
    },
  },
];

/** Names that other assistants use for commands of ouro. */
export const COMPATIBILITY_ALIASES: Readonly<Record<string, string>> = {
  about: 'status',
  approvals: 'permissions',
  ask: 'btw',
  auth: 'login',
  compress: 'compact',
  connect: 'login',
  details: 'transcript',
  models: 'model',
  reasoning: 'effort',
  restore: 'rewind',
  share: 'export',
  stats: 'cost',
  summarize: 'compact',
  thinking: 'effort',
  tokens: 'context',
  tools: 'permissions',
  variants: 'effort',
};

/** Commands of other assistants that ouro does not need, with what does the same here. */
export const FOREIGN_COMMAND_HINTS: Readonly<Record<string, string>> = {
  add: 'Mention the file in a prompt: @path.',
  bug: 'Run `ouro sessions capsule` to collect this session in one file, and attach it to an issue.',
  chat: 'Sessions are saved as you work: /resume opens one, /branch copies this one.',
  commit: 'Ask for it: "commit this".',
  docs: 'Run `ouro help` to list the pages of the documentation.',
  drop: 'Files are read when they are needed; /context shows what is in the context, /compact shortens it.',
  editor: 'ctrl+g opens the draft in $EDITOR.',
  extensions: '/plugin and /skills list what is installed.',
  fast: '/model and /effort choose a faster model or less thinking.',
  feedback: 'Run `ouro sessions capsule` to collect this session in one file, and attach it to an issue.',
  'install-github-app': 'Run `ouro help github-action` for the workflow file.',
  ls: 'Type ! before a shell command: !ls',
  mention: 'Type @ to mention a file.',
  'pr-comments': 'Ask for it: "show the comments of pull request 12".',
  'privacy-settings': 'ouro sends prompts only to the model provider you chose. /config lists all settings.',
  'release-notes': 'CHANGELOG.md, beside README.md, lists the changes of each version.',
  run: 'Type ! before a shell command: !npm test',
  stop: 'esc stops the reply; /ps lists what runs in the background.',
  'terminal-setup': 'No setup is needed: ctrl+j starts a new line in every terminal, shift+enter in most.',
  test: 'Type ! before a shell command: !npm test',
  unshare: 'Exports are files; delete the file.',
  upgrade: 'ouro has no plans of its own. Update the program with the package manager you installed it with.',
  voice: 'ouro has no voice input. Dictation of the system works in the prompt.',
  web: 'Name the address in a prompt; the model fetches it.',
};

function appendSubject(prompt: string, args: string): string {
  return args.trim() === '' ? prompt : `${prompt}\n\nThe change to review: ${args.trim()}`;
}

function sendPrompt(text: string): SlashCommandOutcome {
  return { kind: 'prompt', blocks: [{ type: 'text', text }] };
}
