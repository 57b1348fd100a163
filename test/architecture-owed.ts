/** What the rules find and is not mended yet. It only becomes shorter. */
export const OWED: readonly string[] = [
  'permissions/gate.ts: createGate has',
  'ui/open-screen.ts: openScreen has',
  'ui/effects/run-effect.ts: carryOut has',
  'ui/terminal/screen-output.ts: createScreenOutput has',
  'ui/linear/open-linear.ts: openLinear has',
  'cli/acp/editor-agent.ts: createEditorAgent has',
  'cli/acp/editor-session.ts: createEditorSession has',
  'cli/control/host.ts: createHost has',
  'cli/control/host-run.ts: createHostRun has',
  'app/permissions/told.ts: joins no capability, so it belongs there',
];
