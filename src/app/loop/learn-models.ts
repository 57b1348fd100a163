import type { Core } from '../core.ts';

/** Finds out what models can do before they are asked; what nobody knows of one is said once. */
export async function learnModels(
  { model, bus }: Pick<Core, 'model' | 'bus'>,
  names: readonly string[],
): Promise<void> {
  const said = await Promise.all(names.map(model.learn));
  for (const text of new Set(said)) {
    if (text !== undefined) await bus.tell({ type: 'notice', level: 'warn', topic: 'model', text });
  }
}
