export const MULTI_EDIT_PROMPT = `Makes several Edit replacements in one file, in order, each on the result of the one before. All are applied or none.`;
