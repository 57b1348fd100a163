import type { ModelFailure } from '../../contracts/model.ts';
import type { ModelAttempt } from './attempt.ts';

/** Sends a request of a model in the form that it is known to take. */
export type SendInForm<Form> = (
  model: string,
  attempt: ModelAttempt,
  send: (form: Form) => Promise<Response | ModelFailure>,
) => Promise<Response | ModelFailure>;

/** A request that is refused for its form is sent once more in another, which is kept for the model. */
export function createForms<Form>(
  usual: Form,
  formAfter: (form: Form, failure: ModelFailure) => Form | undefined,
): SendInForm<Form> {
  const forms = new Map<string, Form>();
  return async (model, attempt, send) => {
    const tried = new Set<string>();
    while (true) {
      const form = forms.get(model) ?? usual;
      const answer = await send(form);
      const other = answer instanceof Response ? undefined : formAfter(form, answer);
      tried.add(JSON.stringify(form));
      if (other === undefined || tried.has(JSON.stringify(other)) || attempt.endedBy()) return answer;
      forms.set(model, other);
    }
  };
}
