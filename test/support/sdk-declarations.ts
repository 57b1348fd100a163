import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';
import { parseSync } from 'oxc-parser';
import { z } from 'zod';

const named = z.looseObject({ key: z.looseObject({ name: z.string() }) });
const declared = z.looseObject({
  declaration: z.looseObject({
    id: z.looseObject({ name: z.string() }),
    body: z.unknown().optional(),
    typeAnnotation: z.unknown().optional(),
  }),
});
const members = z.union([
  z.looseObject({ body: z.array(z.unknown()) }).transform(({ body }) => body),
  z.looseObject({ members: z.array(z.unknown()) }).transform((type) => type.members),
]);

/** The names of the members of an exported type or interface of the SDK, as its declarations have them. */
export function membersOfSdkType(name: string): readonly string[] {
  const main = createRequire(import.meta.url).resolve('@anthropic-ai/claude-agent-sdk');
  const file = join(dirname(main), 'sdk.d.ts');
  const { program } = parseSync(file, readFileSync(file, 'utf8'));
  for (const statement of program.body) {
    const read = declared.safeParse(statement);
    if (read.data?.declaration.id.name !== name) continue;
    const { body, typeAnnotation } = read.data.declaration;
    const found = members.parse(body ?? typeAnnotation).flatMap((one) => named.safeParse(one).data?.key.name ?? []);
    return [...new Set(found)].toSorted();
  }
  throw new Error(`The SDK declares no type ${name}.`);
}
