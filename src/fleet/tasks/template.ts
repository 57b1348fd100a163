import { isJsonObject, type JsonValue } from '../../contracts/json.ts';
import { TaskFileProblem } from './task-file.ts';

/** Fills `{{repo.name}}` and the like in a prompt. A name that means nothing is an error, not an empty place. */
export function fillTemplate(template: string, values: JsonValue): string {
  return template.replaceAll(/\{\{\s*([\w.-]+)\s*\}\}/g, (_, path: string) => {
    const found = path
      .split('.')
      .reduce<JsonValue | undefined>(
        (at, key) => (isJsonObject(at) && Object.hasOwn(at, key) ? at[key] : undefined),
        values,
      );
    if (found === undefined || found === null)
      throw new TaskFileProblem(
        `The prompt has {{${path}}}, and there is no such value. There are: ${namesIn(values, '').join(', ')}.`,
      );
    return typeof found === 'string' ? found : JSON.stringify(found);
  });
}

function namesIn(values: JsonValue | undefined, before: string): readonly string[] {
  if (!isJsonObject(values)) return before === '' ? [] : [before];
  return Object.entries(values).flatMap(([key, value]) => namesIn(value, before === '' ? key : `${before}.${key}`));
}
