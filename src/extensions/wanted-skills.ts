import type { Skill } from '../contracts/extension.ts';

/** The skills a host has asked for by name, or by the name behind a plugin's; without a list all of them. */
export function wantedSkills(skills: readonly Skill[], wanted: readonly string[] | undefined): readonly Skill[] {
  if (wanted === undefined) return skills;
  return skills.filter(({ name }) => wanted.some((one) => name === one || name.endsWith(`:${one}`)));
}
