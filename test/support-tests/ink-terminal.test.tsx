import { Box, Static, Text, useInput, usePaste, useWindowSize } from 'ink';
import { useState } from 'react';
import { expect, test } from 'vitest';
import { renderInTerminal } from '../support/terminal/ink-terminal.ts';

function Probe({ done }: { readonly done: readonly string[] }) {
  const [keys, setKeys] = useState('');
  const { columns } = useWindowSize();
  useInput((input, key) => setKeys((before) => before + (key.upArrow ? '↑' : key.return ? '⏎' : input)));
  usePaste((text) => setKeys((before) => `${before}«${text}»`));
  return (
    <Box flexDirection="column">
      <Static items={[...done]}>{(item) => <Text key={item}>{item}</Text>}</Static>
      <Text color="green">{`${columns} columns`}</Text>
      <Text>{`> ${keys}`}</Text>
    </Box>
  );
}

test('components are drawn, receive keys and pastes, and learn a new width', async () => {
  await using terminal = renderInTerminal(<Probe done={['first']} />, { cols: 30, rows: 6 });
  await terminal.waitForText(/^first\n30 columns\n>/);
  terminal.type('a');
  terminal.press('up', 'enter');
  await terminal.waitForText(/> a↑⏎/);
  terminal.paste('two\nlines');
  await terminal.waitForText(/«two/);
  terminal.resize({ cols: 20, rows: 6 });
  await terminal.waitForText(/20 columns/);
});

test('finished output is scrolled away once, and nothing clears the screen', async () => {
  const lines = Array.from({ length: 9 }, (_, at) => `line ${at}`);
  await using terminal = renderInTerminal(<Probe done={lines.slice(0, 3)} />, { cols: 30, rows: 5 });
  terminal.rerender(<Probe done={lines} />);
  await terminal.settled();
  expect(terminal.logicalLines()).toEqual([...lines, '30 columns', '>']);
  expect(terminal.bytes()).not.toMatch(/\x1b\[[23]J/);
  terminal.unmount();
  await terminal.exited;
});
