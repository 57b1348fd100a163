import { basename } from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';

/** Converts a file URI to a path; `undefined` for other URIs. */
export function parseFileUri(uri: string): string | undefined {
  try {
    return fileURLToPath(uri);
  } catch {
    return undefined;
  }
}

/** Describes a folder as LSP and MCP do: by its URI and its name. */
export function describeFolderByUri(folder: string): { readonly uri: string; readonly name: string } {
  return { uri: pathToFileURL(folder).href, name: basename(folder) };
}
