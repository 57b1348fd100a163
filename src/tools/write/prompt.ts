export const WRITE_PROMPT = `Writes a whole file, creating missing directories. An existing file must have been read in this session and is replaced. To change parts of a file use Edit.`;
