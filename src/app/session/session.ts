import type { RunOptions } from '../../contracts/face/run-options.ts';
import type { ModelPort } from '../../contracts/model.ts';
import { asJson } from '../../lib/as-json.ts';
import type { PortChoice } from '../../model/choose-port.ts';
import { titleAsker } from '../../model/title-asker.ts';
import type { UsageMeter } from '../../model/usage-meter.ts';
import { type Earlier, earlierOf, promptFlags } from '../../session/earlier.ts';
import type { LoopParts } from '../loop/loop.ts';
import { type WiredCheckpoints, wireCheckpoints } from './checkpoints.ts';
import { type KeptSession, keepSession, type SessionWiring } from './keep-session.ts';

export type SessionParts = Omit<SessionWiring, 'promptFlags' | 'askTitle' | 'later' | 'options'> & {
  readonly options: RunOptions;
  readonly choice: Extract<PortChoice, { ok: true }>;
  readonly meter: UsageMeter;
  readonly roots: () => readonly string[];
  /** Made after this; nothing asks for it before the first prompt. */
  readonly loop: () => LoopParts;
};

/** Everything of a conversation that outlives its process. */
export type WiredSession = Omit<KeptSession, 'recorded'> & {
  readonly recorded: ModelPort;
  readonly checkpoints: WiredCheckpoints | undefined;
  readonly earlier: Earlier | undefined;
  readonly warnings: readonly string[];
};

export function wireSession(parts: SessionParts): WiredSession {
  const { opened, options, choice, loop, tell } = parts;
  const { earlier, notice } = earlierOf(opened, options, parts.environment.version);
  const kept = keepSession({
    ...parts,
    promptFlags: promptFlags(options),
    askTitle: titleAsker(choice, options.face, parts.meter.add),
    later: () => ({ files: loop().readState.snapshot(), ...asJson(loop().prompt.known()) }),
  });
  const checkpoints = wireCheckpoints({
    ...parts,
    transcript: kept.transcript,
    entries: opened.rebuilt?.checkpoints ?? [],
    background: () =>
      loop()
        .shells.list()
        .some(({ exit }) => exit === undefined),
    warn: (text) => void tell({ type: 'notice', level: 'warn', topic: 'checkpoints', text }),
  });
  return {
    ...kept,
    async record(event) {
      await kept.record(event);
      await checkpoints?.hear(event);
    },
    recorded: kept.recorded(choice.port),
    checkpoints,
    earlier,
    warnings: [...opened.warnings, ...(notice === undefined ? [] : [notice])],
  };
}
