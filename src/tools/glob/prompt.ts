export const GLOB_PROMPT = `Finds files by name, newest first, leaving out what .gitignore names. Patterns like \`**/*.ts\` or \`src/**/*.{js,ts}\`; one without a slash matches names at any depth.`;
