#!/bin/sh
# debian-base.sh [12|13]: a root file system of that Debian (13 by default), made once for all checkouts of a machine.
# Prints its path. Needs root and debootstrap. DEBIAN_MIRROR names another mirror than the usual one.
set -eu
version=${1:-13}
case $version in
  12) suite=bookworm ;;
  13) suite=trixie ;;
  *) echo "Debian 12 or 13, not $version" >&2; exit 2 ;;
esac
cache=${VISION_CACHE_DIR:-${XDG_CACHE_HOME:-$HOME/.cache}/vision}
root=$cache/debian-$version

if ! command -v debootstrap >/dev/null; then
  echo "Missing programs: please install debootstrap and run this again." >&2
  exit 1
fi
if [ ! -f "$root/etc/debian_version" ]; then
  echo "debian $version  making a base (only once, about a minute)" >&2
  mkdir -p "$cache"
  # A folder of its own, so that copies that start together do not meet halves.
  new=$root.$$
  debootstrap --variant=minbase --include=ca-certificates "$suite" "$new" ${DEBIAN_MIRROR:-} >"$root.log" 2>&1 ||
    { tail -n 5 "$root.log" >&2; rm -rf "$new"; exit 1; }
  # Lists and packages that the installation leaves behind.
  rm -rf "$new"/var/cache/apt/archives/*.deb "$new"/var/lib/apt/lists/* "$new"/var/log/*
  mv -T "$new" "$root" 2>/dev/null || { rm -rf "$new"; [ -f "$root/etc/debian_version" ]; }
fi
echo "$root"
