/**
 * A review bot: reviews the changes since a commit. It is read-only.
 * Run it in a repository, with `ANTHROPIC_API_KEY` set: node review-bot.mjs HEAD~1
 */
import { buildTool, createAgent, rulesGate } from '@ouro-cli/agent';
import { bashTool, grepTool, readTool } from '@ouro-cli/agent/tools';
import { z } from 'zod';

const commit = process.argv[2] ?? 'HEAD~1';
const cwd = process.cwd();
// ouro's own rules: read-only commands run, everything else is denied, because there is no user to ask.
const options = { cwd, gate: rulesGate({ cwd, deny: ['Read(.env)'] }) };

const findings = [];
const report = buildTool({
  name: 'Report',
  prompt: 'Reports one mistake. Call it once per mistake.',
  input: z.object({ file: z.string(), line: z.number().int(), what: z.string() }),
  isConcurrencySafe: () => true,
  // It only remembers the finding.
  requiresApproval: false,
  call: async (finding) => {
    findings.push(finding);
    return { content: 'Noted.' };
  },
});

const agent = createAgent({
  systemPrompt: 'You review changes. Report mistakes that matter, nothing else. Say when you are done.',
  tools: [bashTool(options), grepTool(options), readTool(options), report],
  cwd,
  maxTurns: 30,
  maxBudgetUsd: 1,
});

const end = await agent.prompt(`Review the changes since ${commit}: start with git diff ${commit}`);
for (const { file, line, what } of findings) console.log(`${file}:${line}: ${what}`);
if (end.reason !== 'completed') console.error(`The review failed: ${end.words ?? end.reason}`);
process.exitCode = end.reason === 'completed' && findings.length === 0 ? 0 : 1;
