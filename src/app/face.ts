import { join } from 'node:path';
import { parse } from 'jsonc-parser';
import { z } from 'zod';
import type { Conversation } from '../contracts/face/conversation.ts';
import type { JsonObject } from '../contracts/json.ts';
import type { Settings } from '../contracts/settings.ts';
import { childVariables } from './child-variables.ts';
import type { ConversationParts } from './conversation-parts.ts';
import { keepSetting } from './keep-setting.ts';
import { textOf } from './read-settings.ts';
import { createStatusLine } from './status-line-script.ts';
import { createThemeFiles } from './theme-files.ts';

type FaceWiring = {
  readonly ouroHome: string;
  readonly settings: () => Settings;
  readonly variables: () => Readonly<Record<string, string>>;
  readonly cwd: () => string;
  /** What a script for the status line is told. */
  readonly facts: () => JsonObject;
};

/** The face of a conversation, wired. */
export function faceOf({ environment, loaded, live, meter, choice, agent, branch }: ConversationParts) {
  return makeFace({
    ouroHome: environment.ouroHome,
    settings: () => loaded().merged,
    variables: () => childVariables(environment, loaded().merged),
    cwd: () => live.now().cwd,
    facts: () => {
      const { model, mode, cwd, title } = live.now();
      return {
        session_id: agent.sessionId,
        cwd,
        model: { id: model },
        permission_mode: mode,
        title: title ?? '',
        git_branch: branch ?? '',
        context_tokens: meter.contextTokens(),
        context_window: choice.infoOf(model).contextWindow,
        cost_usd: meter.report().costUsd,
      };
    },
  });
}

const keybindings = z.record(z.string(), z.string());

/** What a face may know and keep: how a person wants it to look, and to be used. */
function makeFace(
  wiring: FaceWiring,
): Required<Pick<Conversation, 'faceSettings' | 'keepSetting' | 'themes' | 'statusLine'>> {
  return {
    async faceSettings() {
      const settings = wiring.settings();
      const file = join(wiring.ouroHome, 'keybindings.json');
      const text = await textOf(file).catch(() => undefined);
      const own = keybindings.safeParse(parse(text ?? '{}', [], { allowTrailingComma: true }));
      // A file that is no table of keys is told as a key nobody knows.
      const fromFile = own.success ? own.data : { [file]: 'a table of keys' };
      return { ...settings, keybindings: { ...fromFile, ...settings.keybindings } };
    },
    keepSetting: (key, value) => keepSetting(wiring.ouroHome, key, value),
    themes: createThemeFiles(join(wiring.ouroHome, 'themes')),
    statusLine: createStatusLine(wiring),
  };
}
