export const READ_PROMPT = `Reads a file. Text comes as \`<line number>→<line>\`, by default the first 2000 lines; PARTIAL in the answer means there is more, with the offset to go on from. Lines over 2000 characters are cut and say so.
Also shows images (PNG, JPEG, GIF, WebP), PDF documents and notebooks (.ipynb, by cell). Several files can be read side by side. For directories use Glob.`;
