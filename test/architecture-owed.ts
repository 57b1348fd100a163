/** What the rules find and is not mended yet. It only becomes shorter. */
export const OWED: readonly string[] = [
  'permissions/: a circle of folders: paths → rules → paths',
  'permissions/gate.ts: createGate has',
  'ui/open-screen.ts: openScreen has',
  'permissions/bash/wide.ts: readWidely has',
  'permissions/bash/shell-paths.ts: shellPaths has',
  'ui/effects/run-effect.ts: carryOut has',
  'ui/terminal/screen-output.ts: createScreenOutput has',
  'ui/linear/open-linear.ts: openLinear has',
  'cli/acp/editor-agent.ts: createEditorAgent has',
  'cli/acp/editor-session.ts: createEditorSession has',
  'cli/control/host.ts: createHost has',
  'cli/control/host-run.ts: createHostRun has',
  'permissions/bash/read/narrow.ts: readNarrowly has',
  'app/permissions/told.ts: joins no capability, so it belongs there',
  'app/start/doctor.ts: joins no capability, so it belongs there',
];
