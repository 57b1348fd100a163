// count.mjs <vitest report> <exit code>: prints the number of passed, failed and skipped tests.
import { readFileSync } from 'node:fs';

const [report, exitCode] = process.argv.slice(2);
const { passed, failed, skipped } = counts(readFileSync(report, 'utf8'));
// A run can fail without a failing test: a file that does not load or leaves something, an unhandled rejection.
process.stdout.write(`${passed} ${exitCode === '0' ? failed : Math.max(failed, 1)} ${skipped}\n`);

function counts(text) {
  if (text === '') return { passed: 0, failed: 1, skipped: 0 };
  const { numPassedTests, numFailedTests, numPendingTests, testResults } = JSON.parse(text);
  // Files that do not load, or leave something behind: no test of them has failed.
  const broken = testResults.filter(
    ({ status, assertionResults }) =>
      status === 'failed' && assertionResults.every((assertion) => assertion.status !== 'failed'),
  );
  return { passed: numPassedTests, failed: numFailedTests + broken.length, skipped: numPendingTests };
}
