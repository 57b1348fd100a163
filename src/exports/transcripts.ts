/** Stored sessions as text; loaded where one is shown, because rendering needs much of the program. */

export { redactTranscript } from '../app/replay/bug-report-capsule.ts';
export { renderSessionAsMarkdown } from '../app/replay/session-archive.ts';
export { computeStoredCostUsd } from '../session/session-cost.ts';
