import { expect, test } from 'vitest';
import { analyzeShell } from '../../../../src/permissions/shell/analyze.ts';

test.each([
  ['sleep 3; echo x > a', ['/w/a']],
  ['cat < in >> out.txt && rm -rf build "b c"', ['/w/out.txt', '/w/build', '/w/b c']],
  ['mkdir -p a/b && cp -r src a/b', ['/w/a/b', '/w/src', '/w/a/b']],
  ['for f in 1 2; do touch f$f; done', ['/w/f1', '/w/f2']],
  ['sleep 1', []],
  ['printf x > /tmp/x', ['/tmp/x']],
])('%s can change nothing else', (command, places) => {
  expect(analyzeShell(command).listChangedPaths('/w')).toEqual(places);
});

test.each([
  'npm test',
  'cp -t away a',
  'cp --target-directory=away a',
  'rm *',
  'echo x > "$HOME/a"',
  'touch ~/a',
  'cd /elsewhere; touch a',
  'X=1 touch a',
  'sed -i s/a/b/ a',
  'eval "touch b"',
  'sleep 1 & touch a',
  '$(echo touch) a',
  'touch a; ./run.sh',
])('changes by %s are unknown', (command) => {
  expect(analyzeShell(command).listChangedPaths('/w')).toBeUndefined();
});
