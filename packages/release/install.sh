#!/bin/sh
# Installs ouro for the current user, or another version of it: sh install.sh [version]
#
#   OURO_RELEASE_URL   address of the releases
#   OURO_INSTALL_DIR   folder of the program (default: ~/.local/share/ouro)
#   OURO_BIN_DIR       folder of the command `ouro` (default: ~/.local/bin)
#   OURO_UNSIGNED      1: install although the signature of the release cannot be verified
set -eu

# The key of the releases, in the formats of ssh-keygen and openssl. A copy of a release without signatures has none.
key='@KEY:ssh@'
pem='@KEY:pem@'

fail() {
  printf 'install.sh: %s\n' "$1" >&2
  exit 1
}

# Everything is in functions, so half a script does nothing.
main() {
  releases=${OURO_RELEASE_URL:-@RELEASES@}
  releases=${releases%/}
  case $releases in
    https://*) ;;
    http://*@*) fail "$releases is not an https address." ;;
    http://127.0.0.1:* | http://localhost:*) ;;
    @*) fail 'This copy belongs to no release. Set OURO_RELEASE_URL to the address of the releases.' ;;
    *) fail "$releases is not an https address." ;;
  esac
  [ -n "${HOME:-}" ] || fail 'HOME is not set.'
  dir=${OURO_INSTALL_DIR:-$HOME/.local/share/ouro}
  bin=${OURO_BIN_DIR:-$HOME/.local/bin}
  target=$(detect_target)

  check_command
  mkdir -p "$dir" "$bin" || fail "$dir and $bin cannot be created."
  # Beside the program, because a rename is atomic within a file system only.
  temporary=$(mktemp -d "$dir/.install.XXXXXX") || fail "$dir is not writable."
  trap 'rm -rf "$temporary"' EXIT
  trap 'exit 130' INT
  trap 'exit 143' TERM HUP

  if [ $# -gt 0 ]; then folder=$releases/download/v${1#v}; else folder=$releases/latest/download; fi
  download "$folder/SHA256SUMS" "$temporary/SHA256SUMS"
  verify "$folder/SHA256SUMS.sig" "$temporary/SHA256SUMS"
  # A line is the checksum, two characters and the name.
  line=$(grep "^[0-9a-f]\{64\} [ *]ouro-[0-9][0-9A-Za-z.+-]*-$target\.tar\.gz\$" "$temporary/SHA256SUMS" | head -n 1)
  [ -n "$line" ] || fail "$folder has no release for $target."
  expected=${line%% *}
  archive=${line##*[ *]}
  version=${archive#ouro-}
  version=${version%-"$target".tar.gz}
  if [ $# -gt 0 ]; then
    [ "$version" = "${1#v}" ] || fail "$folder is release $version, not ${1#v}. Nothing was installed."
  elif [ -x "$dir/ouro" ] && installed=$("$dir/ouro" --version 2>/dev/null) && is_older "$version" "$installed"; then
    fail "ouro $installed is installed, and the newest release is $version. To install the older one, name it: install.sh $version"
  fi

  printf 'Downloading ouro %s for %s …\n' "$version" "$target"
  download "$releases/download/v$version/$archive" "$temporary/$archive"
  actual=$(checksum "$temporary/$archive")
  [ "$actual" = "$expected" ] ||
    fail "The checksum of $archive is $actual, but the release lists $expected. Nothing was installed."
  mkdir "$temporary/unpacked"
  tar -xzf "$temporary/$archive" -C "$temporary/unpacked" || fail "$archive could not be unpacked."
  if [ "$("$temporary/unpacked/ouro" --version)" != "$version" ]; then
    case $target in
      *-musl) fail "ouro $version does not run on this machine. On Alpine, it needs: apk add libstdc++" ;;
      *) fail "ouro $version does not run on this machine." ;;
    esac
  fi

  place "$temporary/unpacked"
  [ "$bin" = "$dir" ] || ln -sf "$dir/ouro" "$bin/ouro"
  printf 'ouro %s is installed: %s\n' "$version" "$bin/ouro"
  case :$PATH: in
    *:"$bin":*) ;;
    *) printf 'Add %s to your PATH:  export PATH="%s:%s"\n' "$bin" "$bin" "\$PATH" ;;
  esac
}

detect_target() {
  case $(uname -s) in
    Linux) system=linux ;;
    Darwin) system=darwin ;;
    *) fail "There is no executable for $(uname -s). On Windows, use install.ps1." ;;
  esac
  case $(uname -m) in
    x86_64 | amd64) machine=x64 ;;
    aarch64 | arm64) machine=arm64 ;;
    *) fail "There is no executable for $(uname -m)." ;;
  esac
  # Under Rosetta, a shell believes to run on Intel.
  if [ "$system-$machine" = darwin-x64 ] && [ "$(sysctl -n sysctl.proc_translated 2>/dev/null)" = 1 ]; then
    machine=arm64
  fi
  libc=
  if [ "$system" = linux ] && ! getconf GNU_LIBC_VERSION >/dev/null 2>&1; then
    for loader in /lib/ld-musl-*.so.1; do [ ! -e "$loader" ] || libc=-musl; done
  fi
  printf '%s-%s%s' "$system" "$machine" "$libc"
}

# is_older <version> <version>: whether the first comes before the second. A pre-release comes before its release.
is_older() {
  awk -v a="$1" -v b="$2" 'BEGIN {
    split(a, x, /[.+-]/)
    split(b, y, /[.+-]/)
    for (i = 1; i <= 3; i++) if (x[i] + 0 != y[i] + 0) exit !(x[i] + 0 < y[i] + 0)
    exit !(a ~ /-/ && b !~ /-/)
  }'
}

# download <url> <file>. wget cannot be told to follow redirects to https addresses only.
download() {
  if command -v curl >/dev/null 2>&1; then
    curl --fail --silent --show-error --location --proto-redir '=https' --output "$2" "$1" || fail "$1 could not be downloaded."
  elif command -v wget >/dev/null 2>&1; then
    wget -q -O "$2" "$1" || fail "$1 could not be downloaded."
  else
    fail 'Neither curl nor wget is installed.'
  fi
}

# verify <url of the signature> <file>: ends unless one of two programs verifies the signature with the key of this copy.
verify() {
  case $key in
    ssh-ed25519\ *) ;;
    *)
      printf 'install.sh: This copy has no key of ouro: the download is compared with its checksum only.\n' >&2
      return
      ;;
  esac
  if [ "${OURO_UNSIGNED:-}" = 1 ]; then
    printf 'install.sh: The signature is not verified, as OURO_UNSIGNED is set.\n' >&2
    return
  fi
  download "$1" "$2.sig"
  if verify_with_ssh "$2" || verify_with_openssl "$2"; then return; fi
  if command -v ssh-keygen >/dev/null 2>&1 || command -v openssl >/dev/null 2>&1; then
    fail "The release is not signed with the key of ouro, or ssh-keygen (8.1 or newer) and openssl (3 or newer) are too old to tell. Nothing was installed."
  fi
  fail 'Neither ssh-keygen nor openssl is installed, so the signature cannot be verified. Install one of them, or set OURO_UNSIGNED=1 to compare checksums only.'
}

verify_with_ssh() {
  printf 'ouro-release %s\n' "$key" >"$temporary/signers"
  ssh-keygen -Y verify -f "$temporary/signers" -I ouro-release -n ouro-release -s "$1.sig" <"$1" >/dev/null 2>&1
}

# The last 64 bytes of the file are the signature, made over what is put together here.
verify_with_openssl() {
  printf -- '-----BEGIN PUBLIC KEY-----\n%s\n-----END PUBLIC KEY-----\n' "$pem" >"$temporary/key.pem"
  {
    sed '/^-/d' "$1.sig" | openssl base64 -d | tail -c 64 >"$temporary/signature" &&
      printf 'SSHSIG\0\0\0\014ouro-release\0\0\0\0\0\0\0\006sha512\0\0\0\100' >"$temporary/signed" &&
      openssl dgst -sha512 -binary "$1" >>"$temporary/signed" &&
      openssl pkeyutl -verify -pubin -inkey "$temporary/key.pem" -rawin -in "$temporary/signed" -sigfile "$temporary/signature"
  } >/dev/null 2>&1
}

checksum() {
  if command -v sha256sum >/dev/null 2>&1; then
    sum=$(sha256sum "$1")
  elif command -v shasum >/dev/null 2>&1; then
    sum=$(shasum -a 256 "$1")
  else
    fail 'Neither sha256sum nor shasum is installed, so the download cannot be verified.'
  fi
  printf '%s' "${sum%% *}"
}

# Puts the files in place; the program last, and the one before is kept for `ouro update --back`.
place() {
  for name in LICENSE THIRD-PARTY.txt rg; do mv -f "$1/$name" "$dir/$name"; done
  if [ -f "$dir/ouro" ]; then
    rm -f "$dir/ouro.previous"
    ln "$dir/ouro" "$dir/ouro.previous" 2>/dev/null || cp -p "$dir/ouro" "$dir/ouro.previous"
  fi
  mv -f "$1/ouro" "$dir/ouro"
}

# Refuses to replace another program of this name.
check_command() {
  if [ "$bin" = "$dir" ] || [ ! -e "$bin/ouro" ]; then return; fi
  if [ -L "$bin/ouro" ] && [ "$(readlink "$bin/ouro")" = "$dir/ouro" ]; then return; fi
  fail "$bin/ouro exists and is another program. Remove it, or set OURO_BIN_DIR to another folder."
}

main "$@"
