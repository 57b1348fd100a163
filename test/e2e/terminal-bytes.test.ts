import { expect, test } from 'vitest';
import { calls, says, text, thinking, toolUse } from '../support/api/reply.ts';
import { LAUNCHER } from '../support/run-ouro.ts';
import { someOf } from '../support/runs.ts';
import { openOuro } from '../support/terminal/open-ouro.ts';

/** What would do something to a terminal, or show as something else. */
const EVIL = '\u001b]52;c;ZXZpbA==\u0007\u001b[2J\u001b[31mred\u009b2J\u0007\u202egnp.exe\u2066';
/** Begins in a folder and on a branch of such names, comes back to the conversation, and lists what is there. */
const STEPS = `
mkdir -p "$EVIL" && cd "$EVIL" && git init -q -b "$(printf 'b\\342\\200\\256x')" && printf '%s\n' "out $EVIL" > out
"$1" trust && "$@"
"$1" $FACE --continue
"$1" sessions
"$1" sessions show "$(ls "$HOME"/.ouro/projects/*/*.jsonl | sed 's/.*\\///; s/\\..*//')"
"$1" -p hello
"$1" settings
"$1" doctor
"$1" permissions explain Bash "$EVIL"
echo ALL OVER`;
const SEQUENCES =
  /\u001b\[[?>=<]?[\d;]*[ ]?[A-Za-z]|\u001b\](?:2;[^\u0007\u001b]*|11;\?|133;[A-D]|9;4;\d;\d+|9;[^\u0007\u001b]*)\u0007/g;

/** Nothing but text and what the screen itself says to a terminal. */
function expectHarmless(bytes: string): void {
  expect(bytes).not.toMatch(/\u001b\[[23]J|\u001b\]52|[\u0080-\u009f\u202a-\u202e\u2066-\u2069]/);
  expect(bytes.replaceAll(SEQUENCES, '').replaceAll(/[\r\n\t]/g, '')).not.toMatch(/[\u0000-\u001f\u007f]/);
}

const TURNS = [
  calls(
    thinking(`hm ${EVIL}`),
    text(`Look: ${EVIL} [link](https://example.com/${EVIL})\n\n\`\`\`${EVIL}\n${EVIL}\n\`\`\``),
    toolUse('Bash', { command: 'cat out; cat nothing', description: EVIL }),
    toolUse('Write', { file_path: `new ${EVIL}`, content: `one ${EVIL}\ntwo\n` }),
    toolUse(`mcp__${EVIL}__x`, { [EVIL]: EVIL }),
    toolUse(EVIL, { [EVIL]: EVIL }),
  ),
  says(`Told ${EVIL} all.`),
  says(`Printed ${EVIL}.`),
];

test.each(
  someOf(
    [
      ['on the screen', []],
      ['in lines', ['--a11y']],
    ],
    1,
  ),
)('names, output, changes and old conversations steer no terminal, %s', async (_how, face) => {
  const args = [...face, '--model', `model ${EVIL}`, '--allowedTools', 'Edit', '--', `do it ${EVIL}`];
  const command = ['sh', '-c', STEPS, 'sh', LAUNCHER, ...args];
  const env = { EVIL, FACE: face.join(' ') };
  await using ouro = await openOuro(TURNS, { cols: 120, rows: 40, ready: /Told.*all/s, env, command });
  const { terminal } = ouro;
  terminal.type('/exit\r');
  // The second time: what was said is shown again on the screen.
  await terminal.waitForText(/Resume:.*(?:Told.*all|Type a message)/s);
  terminal.type('/exit\r');
  await terminal.waitForText(/ALL OVER/);
  expectHarmless(terminal.bytes());
  expect(terminal.logicalLines().join('\n')).toMatch(/1 \+ one <U\+001B>\]52.*red<U\+009B>2J<U\+0007><U\+202E>gnp/);
});
