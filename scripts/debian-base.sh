#!/bin/sh
# debian-base.sh: a root file system of Debian 13, made once in .local/cache/debian-13. Prints its path.
# Needs root. DEBIAN_MIRROR names another mirror than the usual one.
set -eu
cd "$(dirname "$0")/.."
root=$PWD/.local/cache/debian-13

if ! command -v debootstrap >/dev/null; then
  echo "apt        installing debootstrap" >&2
  { apt-get -q update && DEBIAN_FRONTEND=noninteractive apt-get -q install -y --no-install-recommends debootstrap; } >&2
fi
if [ ! -f "$root/etc/debian_version" ]; then
  echo "debian 13  making a base (only once, about a minute)" >&2
  mkdir -p "${root%/*}"
  rm -rf "$root" "$root.new"
  debootstrap --variant=minbase --include=ca-certificates trixie "$root.new" ${DEBIAN_MIRROR:-} >"$root.log" 2>&1 ||
    { tail -n 5 "$root.log" >&2; exit 1; }
  # Lists and packages that the installation leaves behind.
  rm -rf "$root.new"/var/cache/apt/archives/*.deb "$root.new"/var/lib/apt/lists/* "$root.new"/var/log/*
  mv "$root.new" "$root"
fi
echo "$root"
