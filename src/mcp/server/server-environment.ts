/** What programs need to run and to be themselves; everything else a server gets only when its entry says so. */
const NEEDED = [
  // Where the person works: the screen, keys of an agent, machines and accounts, none of them a secret by itself.
  'AWS_PROFILE',
  'AWS_REGION',
  'DBUS_SESSION_BUS_ADDRESS',
  'DISPLAY',
  'DOCKER_CONTEXT',
  'DOCKER_HOST',
  'KUBECONFIG',
  'SSH_AUTH_SOCK',
  'WAYLAND_DISPLAY',
  'HOME',
  'LANG',
  'LANGUAGE',
  'LOGNAME',
  'NODE_EXTRA_CA_CERTS',
  'PATH',
  'SHELL',
  'SSL_CERT_DIR',
  'SSL_CERT_FILE',
  'TERM',
  'TEMP',
  'TMP',
  'TMPDIR',
  'TZ',
  'USER',
  'HTTP_PROXY',
  'HTTPS_PROXY',
  'NO_PROXY',
  'http_proxy',
  'https_proxy',
  'no_proxy',
  // Windows
  'APPDATA',
  'COMSPEC',
  'HOMEDRIVE',
  'HOMEPATH',
  'LOCALAPPDATA',
  'PATHEXT',
  'PROGRAMDATA',
  'PROGRAMFILES',
  'SYSTEMDRIVE',
  'SYSTEMROOT',
  'USERNAME',
  'USERPROFILE',
];
const PREFIXES = ['LC_', 'XDG_'];

/** The environment of a server: a short list of the user's, and what its entry adds. */
export function serverEnvironment(
  variables: Readonly<Record<string, string>>,
  own: Readonly<Record<string, string>>,
): Record<string, string> {
  const kept = Object.entries(variables).filter(
    ([name]) => NEEDED.includes(name) || PREFIXES.some((prefix) => name.startsWith(prefix)),
  );
  return { ...Object.fromEntries(kept), ...own };
}
