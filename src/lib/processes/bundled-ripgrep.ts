import { fileBeside } from './beside.ts';

/** The ripgrep that npm brought; throws ENOENT when there is none for this machine. */
export function bundledRipgrep(): string {
  const { platform, arch } = process;
  return fileBeside(`@vscode/ripgrep-${platform}-${arch}/bin/${platform === 'win32' ? 'rg.exe' : 'rg'}`);
}
