import { stripVTControlCharacters } from 'node:util';
import type { PermissionRequest } from '../../contracts/permission.ts';
import { diffLines } from '../history/diff-lines.ts';
import { markdownLines } from '../history/history-lines.ts';
import { hunksOf, permissionBody } from '../question/permission-body.ts';
import type { Drawing } from '../text/drawing.ts';
import { type LogicalLine, terminalLine } from '../text/line.ts';
import { renderLines } from '../text/render-lines.ts';
import type { Paint } from '../theme/paint.ts';
import type { Shown, ViewerPage, ViewerRow } from '../view/viewer-state.ts';
import { reviewEntries } from './review-entries.ts';
import { type PageEntry, transcriptEntries } from './transcript-entries.ts';

/** A page as rows of the current width. */
export function pageRows(page: ViewerPage, shown: Shown, drawing: Drawing, paint: Paint): readonly ViewerRow[] {
  return entriesOf(page, shown, drawing).flatMap(({ lines, block, mark, call }) =>
    lines.flatMap((line, at) =>
      renderLines([line], { width: drawing.width, paint, zone: 'live', links: 'printed' }).map((painted, row) => ({
        painted,
        text: stripVTControlCharacters(painted),
        mark: at === 0 && row === 0 ? mark : ('inside' as const),
        block,
        ...(call === undefined ? {} : { call }),
      })),
    ),
  );
}

function entriesOf(page: ViewerPage, shown: Shown, drawing: Drawing): readonly PageEntry[] {
  if (page.kind === 'transcript') return transcriptEntries(page, shown, drawing);
  if (page.kind === 'text')
    return [{ lines: markdownLines(page.markdown, drawing), block: page.markdown, mark: 'start' }];
  if (page.kind === 'review') return reviewEntries(page, drawing);
  return requestEntries(page.request, drawing);
}

/** All of what is asked about: first what to beware of, then the call itself. */
function requestEntries(request: PermissionRequest, drawing: Drawing): readonly PageEntry[] {
  const { warnings, subject, said, risks } = permissionBody(request, drawing, 'hidden');
  const part = (lines: readonly LogicalLine[], block: string): readonly PageEntry[] =>
    lines.length === 0 ? [] : [{ lines: [...lines, terminalLine()], block, mark: 'start' }];
  const hunks = request.facts.kind === 'edit' ? hunksOf(request) : [];
  const call = hunks.flatMap((hunk) => {
    const block = hunk.lines.map(({ kind, text }) => `${SIGNS[kind]}${text}`).join('\n');
    return part(diffLines({ hunks: [hunk] }, drawing.width), block);
  });
  const whole = call.length > 0 ? call : part(subject, request.facts.command ?? request.title);
  return [...part([...warnings, ...risks, ...said], ''), ...whole];
}

const SIGNS = { add: '+', del: '-', same: ' ' } as const;
