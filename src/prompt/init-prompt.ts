/** The prompt of `/init`, with which the model writes or improves the project's memory file. */
export const INIT_PROMPT = `Please write this project's CLAUDE.md: the one page somebody needs before their first change here. When a CLAUDE.md or AGENTS.md exists, mend that one instead: what is true stays, what is wrong goes.

1. Look around without changing anything: manifests, scripts, CI, test and lint settings, the README, and notes other assistants were given. Follow one typical call through the code from entry to result.
2. Write down only what you saw, in three short sections:
   - **Run it**: the exact commands for setup, start, checks and tests, the narrowest test run included.
   - **Find your way**: which part answers for what, which parts may use which, where a new thing of each kind goes.
   - **Mind this**: habits and traps that the code shows but a newcomer would get wrong.
3. Throw out whatever a competent reader would assume anyway, listings of files, and guesses. Eighty lines are plenty.

Close with two sentences: what the page covers, and what you could not find out.`;
