import { calls, promptTooLong, reply, says, status, text, thinking, toolUse } from '../support/api/reply.ts';
import { testGolden } from '../support/golden.ts';

const bash = (command: string, id: string) => toolUse('Bash', { command }, id);

/** No request that names the conversation while it goes on. */
const WITHOUT_TITLES = { smallModel: 'off' };

testGolden({
  'a file is read': {
    files: { 'a.txt': 'alpha\n', 'CLAUDE.md': 'Use tabs.\n' },
    turns: [
      calls(thinking('Look first.'), text('I look.'), toolUse('Read', { file_path: 'a.txt' }, 'toolu_1')),
      says('It says alpha.'),
    ],
  },
  'files are edited, written and undone': {
    files: { 'a.txt': 'alpha\n', 'sub/CLAUDE.md': 'Write numbers as words.\n', 'sub/b.txt': 'one\n' },
    options: { permissionMode: 'acceptEdits' },
    turns: [
      calls(toolUse('Read', { file_path: 'a.txt' }, 'toolu_1'), toolUse('Read', { file_path: 'sub/b.txt' }, 'toolu_2')),
      calls(
        toolUse('Edit', { file_path: 'a.txt', old_string: 'alpha', new_string: 'beta' }, 'toolu_3'),
        toolUse('Write', { file_path: 'new/c.txt', content: 'gamma\n' }, 'toolu_4'),
      ),
      calls(
        toolUse('MultiEdit', { file_path: 'sub/b.txt', edits: [{ old_string: 'one', new_string: 'two' }] }, 'toolu_5'),
      ),
      says('Done.'),
      says('It was undone.'),
    ],
    async steps({ conversation, command }) {
      await conversation.agent.prompt('go');
      await command('undo');
      await conversation.agent.prompt('and now?');
    },
  },
  'a call is asked about, denied, and allowed with a changed input': {
    files: { 'a.txt': 'alpha\n' },
    settings: WITHOUT_TITLES,
    options: { frontend: 'screen' },
    turns: [
      calls(bash('touch b.txt', 'toolu_1')),
      calls(bash('touch c.txt', 'toolu_2')),
      calls(bash('touch d.txt', 'toolu_3')),
      says('Done.'),
    ],
    async steps({ conversation }) {
      const answers = [
        { behavior: 'deny', message: 'Not that one.' },
        { behavior: 'allow' },
        { behavior: 'allow', updatedInput: { command: 'touch e.txt' } },
      ] as const;
      let asked = 0;
      conversation.agent.subscribe((event) => {
        const answer = event.type === 'permission_request' ? answers[asked] : undefined;
        if (event.type !== 'permission_request' || answer === undefined) return;
        asked += 1;
        conversation.agent.answerPermission(event.request.id, answer);
      });
      await conversation.agent.prompt('go');
    },
  },
  'calls that nobody can be asked about are refused': {
    turns: [calls(bash('make all', 'toolu_1'), bash('curl example.com', 'toolu_2')), says('Refused.')],
  },
  'failed calls: unknown tool, wrong input, missing file, failing command': {
    options: { allowedTools: ['Bash'] },
    turns: [
      calls(
        toolUse('Nothing', { a: 1 }, 'toolu_1'),
        toolUse('Read', { path: 1 }, 'toolu_2'),
        toolUse('Read', { file_path: 'gone.txt' }, 'toolu_3'),
        bash('echo out; echo err >&2; exit 3', 'toolu_4'),
      ),
      says('All failed.'),
    ],
  },
  'messages are steered and queued while a turn runs': {
    files: { 'a.txt': 'alpha\n' },
    turns: [calls(toolUse('Read', { file_path: 'a.txt' }, 'toolu_1')), says('One.'), says('Two.')],
    async steps({ conversation: { agent } }) {
      agent.subscribe(({ type }) => {
        if (type !== 'turn_start' || agent.state().messages.length > 1) return;
        agent.steer('hurry');
        agent.followUp('and then?');
      });
      await agent.prompt('go');
    },
  },
  'a session is resumed and continued': {
    files: { 'a.txt': 'alpha\n' },
    turns: [
      calls(toolUse('Read', { file_path: 'a.txt' }, 'toolu_1')),
      calls(
        toolUse('TodoWrite', { todos: [{ content: 'Read', status: 'in_progress', activeForm: 'Reading' }] }, 'toolu_2'),
      ),
      says('Read.'),
      says('Again.'),
    ],
    async steps({ conversation }, { reopen, project }) {
      await conversation.agent.prompt('go');
      await conversation.setMode('acceptEdits');
      await project.write('a.txt', 'beta\n');
      const again = await reopen({ session: { kind: 'continue', fork: 'same' } });
      await again.conversation.agent.prompt('go on');
    },
  },
  'a session is forked': {
    turns: [says('One.'), says('Two.')],
    async steps({ conversation }, { reopen }) {
      await conversation.agent.prompt('go');
      const again = await reopen({ session: { kind: 'continue', fork: 'fork' } });
      await again.conversation.agent.prompt('go on');
    },
  },
  'a conversation is compacted on request': {
    files: { 'a.txt': 'alpha\n' },
    turns: ({ raw }) =>
      raw.includes('Compress') || raw.includes('summary of')
        ? says('We read a.txt.')
        : raw.includes('toolu_1') || raw.includes('go on')
          ? says('Fine.')
          : calls(toolUse('Read', { file_path: 'a.txt' }, 'toolu_1')),
    async steps({ conversation, command }) {
      await conversation.agent.prompt('go');
      await command('compact');
      await conversation.agent.prompt('go on');
    },
  },
  'a context that is too long is compacted and the request repeated': {
    turns: ({ raw }, index) =>
      index === 1 ? promptTooLong() : raw.includes('second') ? says('Shorter.') : says('A long story. '.repeat(400)),
    async steps({ conversation }) {
      await conversation.agent.prompt('first');
      await conversation.agent.prompt('second');
    },
  },
  'a fallback model answers when the first is overloaded': {
    settings: { fallbackModels: ['haiku'] },
    turns: ({ body }) => (String(body.model).includes('sonnet') ? status(529) : says('I am the fallback.')),
  },
  'a reply without an end is continued': {
    turns: [reply([text('and so')], { stop: 'max_tokens' }), says(' on.')],
  },
  'a model that repeats itself is reminded': {
    files: { 'a.txt': 'alpha\n' },
    turns: (_, index) =>
      index < 5 ? calls(toolUse('Read', { file_path: 'gone.txt' }, `toolu_${index}`)) : says('I give up.'),
  },
  'structured output is required': {
    options: {
      jsonSchema: { type: 'object', properties: { n: { type: 'number' } }, required: ['n'] },
    },
    turns: [
      says('One.'),
      calls(toolUse('StructuredOutput', { n: 'one' }, 'toolu_1')),
      calls(toolUse('StructuredOutput', { n: 1 }, 'toolu_2')),
    ],
  },
  'a shell line of the user joins the conversation': {
    turns: [says('I see it.')],
    async steps({ conversation }) {
      await conversation.runShell('echo from the user');
      await conversation.agent.prompt('go');
    },
  },
  'files changed by others are told': {
    files: { 'a.txt': 'alpha\n' },
    turns: [calls(toolUse('Read', { file_path: 'a.txt' }, 'toolu_1')), says('One.'), says('Two.')],
    async steps({ conversation }, { project }) {
      await conversation.agent.prompt('go');
      await project.write('a.txt', 'alpha\nbeta\n');
      await conversation.agent.prompt('and now?');
    },
  },
  'a command changes a known file': {
    files: { 'a.txt': 'alpha\n' },
    options: { allowedTools: ['Bash'] },
    turns: [
      calls(toolUse('Read', { file_path: 'a.txt' }, 'toolu_1')),
      calls(bash('echo beta >> a.txt', 'toolu_2')),
      says('Done.'),
    ],
  },
  'a mentioned file is attached': {
    files: { 'a.txt': 'alpha\n' },
    turns: [says('It says alpha.')],
    async steps({ conversation }) {
      await conversation.agent.prompt(await conversation.expandPrompt('what does @a.txt say?'));
    },
  },
  'model, effort and budget come from the options': {
    options: { model: 'opus', effort: 'high', maxTurns: 1, appendSystemPrompt: 'Be kind.', betas: ['some-beta'] },
    turns: [calls(toolUse('Glob', { pattern: '*' }, 'toolu_1')), says('Nothing.')],
  },
});
