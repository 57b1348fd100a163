import type { ElicitRequest, ElicitResult } from '@modelcontextprotocol/sdk/types.js';
import { z } from 'zod';
import { isJsonObject, type JsonObject } from '../contracts/json.ts';
import type { CallContext, ElicitationRequest, QuestionSource } from '../contracts/tool.ts';
import { applyFormDefaults, parseFormFields, validateForm } from '../lib/form-schema.ts';
import { copyAsJson } from '../lib/json.ts';
import { hasLookalikeText } from '../permissions/call-risks.ts';
import { shortenServerText } from './server-text.ts';

/** Asks the user a question; `undefined` if there is no answer. */
export type AskUser = CallContext['ask'];

/** The answer for the server, and the reason when it was declined without the user's decision. */
export type ElicitationOutcome = { readonly result: ElicitResult; readonly reason?: string };

/** Fields for secrets, which the protocol forbids in forms: an answer goes through ouro and its session file. */
const SECRET_FIELD =
  /pass(?:wor[dt]|phrase|code|wd)|kennwort|mot[ _]de[ _]passe|contrase|secret|credential|\b(?:api|access|private|auth|ssh|encryption|recovery|license)[ _-]?keys?\b|^key$|\b(?:security|verification|recovery|backup)[ _-]?codes?\b|seed[ _-]?phrase|mnemonic|\btoken\b|_token\b|token_|\bpin\b|\botp\b|\bcv[vc]\b|\bpwd\b|\bpw\b|\b[2m]fa\b|two[ -]factor|\bbearer\b|\b(?:session|login|auth)[ _-]?(?:cookie|id)s?\b|^cookies?$|\bauthorization\b|\bsk-/i;
/** Passwords in other languages. */
const FOREIGN_SECRET =
  /парол|секрет|密码|密碼|口令|パスワード|暗証|비밀번호|암호|كلمة المرور|סיסמה|रहस्य|पासवर्ड|şifre|sifre|haslo|hasło|heslo|losenord|salasana|wachtwoord|adgangskode|\bsenha\b|jelszo|κωδικ|รหัสผ่าน|mat khau/i;
/** Names of secrets that a message with a text field must not have; `token` and `key` have other meanings there. */
const MESSAGE_ABOUT_SECRET =
  /passwor[dt]|passphrase|\bsecret\b|\b(?:api|access|private|ssh)[ _-]?key\b|\b(?:access|api|auth|bearer|session) token\b|seed phrase|credentials?\b/i;
const contentSchema = z.record(z.string(), z.union([z.string(), z.number(), z.boolean(), z.array(z.string())]));

/** Asks the user a server's question; declines when the user cannot be asked or the answer does not fit the form. */
export async function elicit(
  source: QuestionSource,
  params: ElicitRequest['params'],
  ask: AskUser | undefined,
  withdrawSignal: AbortSignal,
): Promise<ElicitationOutcome> {
  if (ask === undefined) return decline('The user cannot be asked in this mode.');
  const request = parseRequest(params);
  if (request.mode === 'url' && !/^https?:/.test(request.url)) return decline(`${request.url} is not a web address.`);
  if (request.mode === 'form' && asksForSecret(params.message, request.schema))
    return decline('A form must not ask for passwords, keys or tokens. Send the user to a web address instead.');
  const message = shortenServerText(params.message);
  const answer = await ask({ kind: 'elicitation', ...source, message, wants: request }, withdrawSignal);
  if (answer === undefined) return { result: { action: 'cancel' } };
  if (answer.kind !== 'elicitation') return decline('The frontend answered a different kind of question.');
  if (answer.action !== 'accept') {
    return answer.reason === undefined ? { result: { action: answer.action } } : decline(answer.reason);
  }
  if (request.mode === 'url') return { result: { action: 'accept' } };
  const fields = parseFormFields(request.schema);
  const filled = applyFormDefaults(fields, answer.content ?? {});
  const parsed = contentSchema.safeParse(filled);
  const problem = parsed.success ? validateForm(fields, filled) : 'It contains values of an unsupported type.';
  if (!parsed.success || problem !== undefined) return decline(`The answer does not fit the form: ${problem}`);
  return { result: { action: 'accept', content: parsed.data } };
}

function asksForSecret(message: string, schema: JsonObject): boolean {
  const hasText = parseFormFields(schema).some(({ type }) => type.kind === 'text');
  const properties = isJsonObject(schema.properties) ? schema.properties : {};
  return (
    (hasText && (listReadings(message).some(isMessageAboutSecret) || hasLookalikeText(message))) ||
    Object.entries(properties).some(([name, field]) => {
      const { title, description, default: preset } = isJsonObject(field) ? field : {};
      const labels = [name, name.replaceAll(/([a-z])([A-Z])/g, '$1_$2'), name.replaceAll('_', ' '), title, description];
      // A text that stands in the field speaks as the message does.
      if (typeof preset === 'string' && listReadings(preset).some(isMessageAboutSecret)) return true;
      return labels.some(
        (label) => typeof label === 'string' && (listReadings(label).some(isSecretLabel) || hasLookalikeText(label)),
      );
    })
  );
}

const isMessageAboutSecret = (text: string) => MESSAGE_ABOUT_SECRET.test(text) || FOREIGN_SECRET.test(text);
const isSecretLabel = (text: string) => SECRET_FIELD.test(text) || FOREIGN_SECRET.test(text);

/** Lists the readings of a text: without what hides a word from the pattern and not from the eye, as `p4ssw0rd`. */
function listReadings(text: string): readonly string[] {
  const visible = text
    .normalize('NFKC')
    .replaceAll(/\p{Cf}/gu, '')
    .replaceAll(/\p{Pd}/gu, '-')
    .trim();
  const plain = visible.normalize('NFKD').replaceAll(/\p{Mn}/gu, '');
  const joined = plain.replaceAll(/(?<=(?<!\p{L})\p{L})[ ._-](?=\p{L}(?!\p{L}))/gu, '');
  const letters = joined.replaceAll(/[013457@$!]/g, (sign) => LETTERS[sign] ?? sign);
  return [visible, plain, joined, letters];
}

/** Letters for which digits and signs may stand. */
const LETTERS: Readonly<Record<string, string>> = {
  0: 'o',
  1: 'i',
  3: 'e',
  4: 'a',
  5: 's',
  7: 't',
  '@': 'a',
  $: 's',
  '!': 'i',
};

function parseRequest(params: ElicitRequest['params']): ElicitationRequest {
  if (params.mode === 'url') return { mode: 'url', url: params.url, id: params.elicitationId };
  return { mode: 'form', schema: copyAsJson(params.requestedSchema) };
}

function decline(reason: string): ElicitationOutcome {
  return { result: { action: 'decline', _meta: { reason } }, reason };
}
