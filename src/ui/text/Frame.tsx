import { Box } from 'ink';
import type { ReactNode } from 'react';
import type { ThemeToken } from '../theme/theme.ts';
import { useScreenContext } from './render-context.ts';

/** Columns that the bar and the space after it take. */
export const FRAME_COLUMNS = 2;

type FrameProps = { readonly token: ThemeToken; readonly children: ReactNode };

/** A bar at the left edge: the frame of dialogs, panels and lists. */
export function Frame({ token, children }: FrameProps) {
  const { context, paint } = useScreenContext();
  return (
    <Box
      borderStyle={createLeftBorder(paint(context.glyphs.bar, { token }))}
      borderTop={false}
      borderBottom={false}
      borderRight={false}
      paddingLeft={1}
      flexDirection="column"
    >
      <Box flexDirection="column" width={Math.max(1, context.width - 1 - FRAME_COLUMNS)}>
        {children}
      </Box>
    </Box>
  );
}

function createLeftBorder(bar: string) {
  return { left: bar, right: '', top: '', bottom: '', topLeft: '', topRight: '', bottomLeft: '', bottomRight: '' };
}
