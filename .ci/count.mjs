// count.mjs <vitest report> <exit code>: prints the number of passed and failed tests.
import { readFileSync } from 'node:fs';

const [report, exitCode] = process.argv.slice(2);
const { passed, failed } = counts(readFileSync(report, 'utf8'));
// A run can fail without a failing test: a file that does not load, an unhandled rejection.
process.stdout.write(`${passed} ${exitCode === '0' ? failed : Math.max(failed, 1)}\n`);

function counts(text) {
  if (text === '') return { passed: 0, failed: 1 };
  const { numPassedTests, numFailedTests, testResults } = JSON.parse(text);
  const unloaded = testResults.filter(
    ({ status, assertionResults }) => status === 'failed' && assertionResults.length === 0,
  );
  return { passed: numPassedTests, failed: numFailedTests + unloaded.length };
}
