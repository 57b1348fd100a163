import type { SessionCore } from '../contracts/session-core.ts';
import type { Settings } from '../contracts/settings.ts';
import { DEFAULT_MODEL, resolveModel } from '../model/built-in-models.ts';

type SettingsChangeHandlerDeps = {
  /** Announces an intended change of the next request. */
  readonly expectCacheMiss: (why: string) => void;
};

/**
 * Creates a function that applies edited settings to the running session: model, effort and output style. Values chosen
 * by a flag or a command are kept; they differ from the previous setting.
 */
export function createSettingsChangeHandler(
  { settings, live, options, environment }: SessionCore,
  { expectCacheMiss }: SettingsChangeHandlerDeps,
): () => void {
  let before = settings.current();
  return () => {
    const [old, now] = [before, settings.current()];
    before = now;
    const { model, effort, outputStyle } = live.current();
    const [oldModel, newModel] = [resolveSettingsModel(old), resolveSettingsModel(now)];
    if (oldModel !== newModel && model === oldModel && (options.model ?? environment.model) === undefined) {
      expectCacheMiss(`The settings changed the model to ${newModel}.`);
      live.update({ model: newModel });
    }
    const [oldEffort, newEffort] = [old.effort ?? 'auto', now.effort ?? 'auto'];
    if (oldEffort !== newEffort && effort === oldEffort && options.effort === undefined) {
      expectCacheMiss(`The settings changed the effort to ${newEffort}.`);
      live.update({ effort: newEffort });
    }
    const [oldStyle, newStyle] = [old.outputStyle ?? 'default', now.outputStyle ?? 'default'];
    if (oldStyle !== newStyle && outputStyle === oldStyle) live.update({ outputStyle: newStyle });
  };
}

function resolveSettingsModel({ model }: Settings): string {
  return resolveModel(model ?? DEFAULT_MODEL);
}
