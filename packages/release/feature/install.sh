#!/bin/sh
# Installs ouro for all users of a development container. The container tool sets VERSION from the options, and runs
# this as root in the folder of the feature, where the release workflow puts the installer.
set -eu

if ! command -v curl >/dev/null 2>&1 && ! command -v wget >/dev/null 2>&1; then
  if command -v apt-get >/dev/null 2>&1; then
    apt-get update && apt-get install -y --no-install-recommends ca-certificates curl openssl
  fi
fi
# Alpine's own wget is enough, but the runtime needs the library, and the installer a program for signatures.
if command -v apk >/dev/null 2>&1; then apk add --no-cache libstdc++ openssl; fi
if [ "${VERSION:-latest}" = latest ]; then set --; else set -- "$VERSION"; fi
OURO_INSTALL_DIR=${OURO_INSTALL_DIR:-/usr/local/share/ouro} OURO_BIN_DIR=${OURO_BIN_DIR:-/usr/local/bin} \
  sh ./install-ouro.sh "$@"
