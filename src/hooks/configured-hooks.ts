import { HOOK_EVENTS, type Hook, type HookEvent } from '../contracts/hook.ts';
import type { LoadedSettings, Settings, SettingsLayer } from '../contracts/settings.ts';

/** The hooks of all settings layers. */
export function configuredHooks({ layers }: LoadedSettings): readonly Hook[] {
  return layers.flatMap((layer) => hooksIn(layer.settings.hooks ?? {}, { ...layer, env: projectOf(layer) }));
}

/** Where hooks stand. */
export type HookPlace = Pick<Hook, 'source' | 'env' | 'file'> & {
  readonly lineOf?: SettingsLayer['lineOf'];
};

/** The hooks of one place, each with its event. Events that nothing here brings about have none. */
export function hooksIn(hooks: NonNullable<Settings['hooks']>, place: HookPlace): readonly Hook[] {
  const { source, env, file, lineOf } = place;
  return Object.entries(hooks).flatMap(([event, groups]) =>
    groups.flatMap(({ matcher, hooks: all }, groupAt) =>
      all.flatMap((hook, at): Hook[] => {
        if (!isHookEvent(event)) return [];
        const line = lineOf?.(['hooks', event, groupAt, 'hooks', at]);
        return [
          {
            ...hook,
            event,
            source,
            ...(env === undefined ? {} : { env }),
            ...(file === undefined ? {} : { file }),
            ...(line === undefined ? {} : { line }),
            ...(matcher === undefined ? {} : { matcher }),
          },
        ];
      }),
    ),
  );
}

/** The hooks of a project find its scripts wherever in it a session began. */
function projectOf({ source, file }: SettingsLayer): Hook['env'] {
  const [, folder] = /^(.*)\/\.claude\/settings(?:\.local)?\.json$/.exec(file) ?? [];
  if (folder === undefined || (source !== 'project' && source !== 'local')) return undefined;
  return { CLAUDE_PROJECT_DIR: folder, OURO_PROJECT_DIR: folder };
}

const EVENTS: ReadonlySet<string> = new Set(HOOK_EVENTS);

function isHookEvent(event: string): event is HookEvent {
  return EVENTS.has(event);
}
