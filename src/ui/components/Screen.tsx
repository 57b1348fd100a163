import { Box } from 'ink';
import { Menu } from '../menus/Menu.tsx';
import { Panel } from '../panels/Panel.tsx';
import { Question } from '../question/Question.tsx';
import { StatusLine } from '../status/StatusLine.tsx';
import { Rows } from '../text/Rows.tsx';
import type { ViewState } from '../view/view-state.ts';
import { Composer } from './Composer.tsx';
import { Live } from './Live.tsx';
import type { Below, ScreenPlan } from './plan-screen.ts';
import { Queue } from './Queue.tsx';

type ScreenProps = { readonly view: ViewState; readonly plan: ScreenPlan };

/** The part of the terminal that is redrawn: what still changes, what asks, the draft, and what hangs below it. */
export function Screen({ view, plan }: ScreenProps) {
  const { live, question, gaps, queue, composer, below, status } = plan;
  return (
    <Box flexDirection="column">
      <Live blocks={live} view={view} />
      {question !== undefined && (
        <Box marginTop={gaps.question}>
          <Question plan={question} />
        </Box>
      )}
      <Box marginTop={gaps.composer} flexDirection="column">
        <Queue queue={queue} />
        <Composer rows={composer} />
      </Box>
      <Under below={below} />
      {status === 'shown' && <StatusLine view={view} />}
    </Box>
  );
}

/** What is open below the draft. */
function Under({ below }: { readonly below: Below }) {
  switch (below.kind) {
    case 'menu':
      return <Menu plan={below.plan} />;
    case 'help':
      return <Rows rows={below.lines} />;
    case 'panel':
      return (
        <Box maxHeight={below.rows} overflowY="hidden">
          <Panel view={below.panel} rows={below.rows} />
        </Box>
      );
    default:
      return null;
  }
}
